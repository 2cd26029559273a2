//! What is counted of schedules: runs and slots that were missed, since this process started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use baton_core::Event;
use baton_core::schedule::{Declared, MissReason, RunOutcome};

use super::family::{FamilyKind, MetricsBuilder};

/// Every outcome of a run, as a label. All are there from the start, so that the first one is a
/// change.
const OUTCOMES: [RunOutcome; 5] = [
    RunOutcome::Done,
    RunOutcome::Failed(String::new()),
    RunOutcome::TimedOut,
    RunOutcome::Replaced,
    RunOutcome::Abandoned,
];

/// Every reason for which slots are missed.
const REASONS: [MissReason; 4] =
    [MissReason::Late, MissReason::Overlap, MissReason::TooMany, MissReason::Withdrawn];

/// The counts of all schedules of a node, by name.
#[derive(Default)]
pub(crate) struct ScheduleCounts(Mutex<BTreeMap<String, Counts>>);

#[derive(Clone, Default)]
struct Counts {
    runs: BTreeMap<&'static str, u64>,
    missed: BTreeMap<&'static str, u64>,
    late_ms: u64,
    last_success_ms: u64,
}

impl ScheduleCounts {
    /// Counts what an event says of a schedule; `wall_ms` is now in Unix milliseconds. An attempt
    /// that is tried again is no end of a run.
    pub(super) fn count(&self, event: &Event, wall_ms: u64) {
        match event {
            Event::ScheduleStarted { schedule, attempt: 1, late_ms, .. } => {
                self.change(schedule, |counts| counts.late_ms = *late_ms);
            }
            Event::ScheduleEnded { schedule, outcome, retry_at_ms: None, .. } => {
                self.change(schedule, |counts| {
                    *counts.runs.entry(outcome.word()).or_default() += 1;
                    if *outcome == RunOutcome::Done {
                        counts.last_success_ms = wall_ms;
                    }
                });
            }
            Event::ScheduleMissed { schedule, count, reason, .. } => {
                self.change(schedule, |counts| {
                    *counts.missed.entry(reason.word()).or_default() += u64::from(*count);
                });
            }
            _ => {}
        }
    }

    fn change(&self, schedule: &str, change: impl FnOnce(&mut Counts)) {
        let mut all = self.0.lock().expect("no holder panics");
        change(all.entry(schedule.to_owned()).or_default());
    }

    /// The figures of the schedules that the node declares, and of those that ran on it.
    pub(super) fn gather(&self, declared: &Declared, builder: &mut MetricsBuilder) {
        let counted = self.0.lock().expect("no holder panics").clone();
        let declared = declared.iter().map(|schedule| schedule.definition.name.as_str());
        let names: BTreeSet<&str> = counted.keys().map(String::as_str).chain(declared).collect();
        let none = Counts::default();
        let all = || names.iter().map(|name| (*name, counted.get(*name).unwrap_or(&none)));
        let about = "Runs of a schedule that ended on this node, by how they ended.";
        builder.family(FamilyKind::Counter, "baton_schedule_runs_total", about);
        for (schedule, counts) in all() {
            for outcome in OUTCOMES.iter().map(RunOutcome::word) {
                let count = counts.runs.get(outcome).copied().unwrap_or_default();
                builder.put("", &[("schedule", schedule), ("outcome", outcome)], count as f64);
            }
        }
        let about = "Slots of a schedule that were not run, by reason.";
        builder.family(FamilyKind::Counter, "baton_schedule_missed_total", about);
        for (schedule, counts) in all() {
            for reason in REASONS.map(MissReason::word) {
                let count = counts.missed.get(reason).copied().unwrap_or_default();
                builder.put("", &[("schedule", schedule), ("reason", reason)], count as f64);
            }
        }
        let about = "How long after its slot the last run on this node started; 0 if none did.";
        builder.family(FamilyKind::Gauge, "baton_schedule_late_seconds", about);
        for (schedule, counts) in all() {
            builder.put("", &[("schedule", schedule)], counts.late_ms as f64 / 1e3);
        }
        let about = "When a run on this node last succeeded, in Unix time; 0 if none did.";
        let name = "baton_schedule_last_success_timestamp_seconds";
        builder.family(FamilyKind::Gauge, name, about);
        for (schedule, counts) in all() {
            builder.put("", &[("schedule", schedule)], counts.last_success_ms as f64 / 1e3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: RunOutcome, retry_at_ms: Option<u64>) -> Event {
        let schedule = "report".to_owned();
        Event::ScheduleEnded { schedule, slot_ms: 1, attempt: 1, took_ms: 5, outcome, retry_at_ms }
    }

    fn missed(reason: MissReason, count: u32) -> Event {
        let schedule = "report".to_owned();
        Event::ScheduleMissed { schedule, count, first_ms: 1, last_ms: 2, reason }
    }

    #[test]
    fn runs_are_counted_once_with_the_outcome_of_their_last_attempt() {
        let counts = ScheduleCounts::default();
        let failed = || RunOutcome::Failed("exit code 3".to_owned());
        counts.count(&ended(failed(), Some(9)), 3_000);
        counts.count(&ended(RunOutcome::Done, None), 4_000);
        counts.count(&ended(failed(), None), 5_000);
        counts.count(&missed(MissReason::Late, 7), 5_000);
        counts.count(&missed(MissReason::Late, 2), 6_000);
        for (attempt, late_ms) in [(1, 1_500), (2, 9_000)] {
            let schedule = "report".to_owned();
            let started = Event::ScheduleStarted { schedule, slot_ms: 1, attempt, late_ms };
            counts.count(&started, 7_000);
        }
        let mut builder = MetricsBuilder::new("default", "a");
        counts.gather(&Declared::default(), &mut builder);
        let figures = builder.build();
        let runs = |outcome| {
            let labels = [("schedule", "report"), ("outcome", outcome)];
            figures.value("baton_schedule_runs_total", &labels)
        };
        assert_eq!(
            [runs("done"), runs("failed"), runs("timed out"), runs("never")],
            [Some(1.0), Some(1.0), Some(0.0), None]
        );
        let missed = |reason| {
            let labels = [("schedule", "report"), ("reason", reason)];
            figures.value("baton_schedule_missed_total", &labels)
        };
        assert_eq!([missed("late"), missed("too-many")], [Some(9.0), Some(0.0)]);
        assert_eq!(figures.value("baton_schedule_late_seconds", &[]), Some(1.5));
        let succeeded = figures.value("baton_schedule_last_success_timestamp_seconds", &[]);
        assert_eq!(succeeded, Some(4.0));
    }

    #[test]
    fn every_outcome_and_every_reason_is_a_series_of_its_own() {
        let outcomes: BTreeSet<&str> = OUTCOMES.iter().map(RunOutcome::word).collect();
        let reasons: BTreeSet<&str> = REASONS.map(MissReason::word).into();
        assert_eq!((outcomes.len(), reasons.len()), (OUTCOMES.len(), REASONS.len()));
        for reason in REASONS {
            let name = serde_json::to_value(reason).expect("plain data");
            assert_eq!(name, reason.word(), "one name in metrics, events and the store");
        }
    }
}
