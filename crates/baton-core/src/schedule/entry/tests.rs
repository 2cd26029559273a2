//! What becomes of one schedule, step by step.

use jiff::tz::TimeZone;

use super::*;
use crate::ids::Epoch;
use crate::schedule::definition::{Definition, Misfire, Overlap};
use crate::schedule::on_crash::OnCrash;

const START_MS: u64 = 1_790_000_000_000;

/// A schedule of every second and its entry, with the steps of one leader after another.
struct Stage {
    schedule: Schedule,
    entry: Entry,
    epoch: u64,
}

impl Stage {
    fn new(change: impl FnOnce(&mut Definition)) -> Self {
        let mut definition = Definition::new("tick", "* * * * * *");
        change(&mut definition);
        let schedule = definition.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
        let entry = Entry::new(&schedule, START_MS);
        Self { schedule, entry, epoch: 1 }
    }

    fn step<T>(
        &mut self,
        after_ms: u64,
        take: impl FnOnce(&mut Entry, &Schedule, &mut Step<'_>) -> T,
    ) -> Vec<String> {
        let node = NodeId::new("a").expect("valid");
        let claimant = Claimant { epoch: Epoch(self.epoch), number: 0 };
        let now_ms = START_MS + after_ms;
        let mut step = Step { now_ms, claimant, node: &node, events: Vec::new() };
        take(&mut self.entry, &self.schedule, &mut step);
        let slot = |ms: u64| (ms - START_MS) / 1_000;
        step.events
            .iter()
            .map(|event| match event {
                Event::ScheduleStarted { slot_ms, attempt, .. } => {
                    format!("{} starts, attempt {attempt}", slot(*slot_ms))
                }
                Event::ScheduleEnded { slot_ms, outcome, retry_at_ms: Some(_), .. } => {
                    format!("{} {}, again", slot(*slot_ms), outcome.word())
                }
                Event::ScheduleEnded { slot_ms, outcome, .. } => {
                    format!("{} {}", slot(*slot_ms), outcome.word())
                }
                Event::ScheduleMissed { count, first_ms, last_ms, reason, .. } => {
                    let (first, last) = (slot(*first_ms), slot(*last_ms));
                    format!("{count} missed, {first} to {last}: {reason:?}")
                }
                other => format!("unexpected {other:?}"),
            })
            .collect()
    }

    fn advance(&mut self, after_ms: u64) -> Vec<String> {
        self.step(after_ms, Entry::advance)
    }

    /// The run of this slot ends, and the leader looks what comes of it.
    fn end(&mut self, after_ms: u64, slot: u64, end: AttemptEnd) -> Vec<String> {
        let is_meant = |run: &&ActiveRun| run.id.at_ms == START_MS + slot * 1_000;
        let run = self.entry.running.iter().find(is_meant).expect("it runs");
        let attempt = (run.id, run.attempt);
        self.step(after_ms, |entry, schedule, step| {
            entry.end_attempt(attempt, end, step);
            entry.advance(schedule, step);
        })
    }
}

#[test]
fn a_slot_is_started_once_and_recorded() {
    let mut stage = Stage::new(|_| {});
    assert_eq!(stage.advance(999), [""; 0]);
    assert_eq!(stage.advance(1_000), ["1 starts, attempt 1"]);
    assert_eq!(stage.advance(1_001), [""; 0], "it is decided");
    assert_eq!(stage.end(1_500, 1, AttemptEnd::Done), ["1 done"]);
    assert_eq!(stage.entry.totals, Totals { done: 1, failed: 0, missed: 0 });
    assert!(stage.entry.running.is_empty());
    assert!(matches!(
        stage.entry.history.back(),
        Some(HistoryEntry::Run { attempts: 1, outcome: RunOutcome::Done, .. })
    ));
}

#[test]
fn what_is_due_during_a_run_follows_the_policy() {
    let at = |overlap| {
        let mut stage = Stage::new(|it| it.overlap = overlap);
        let mut told = stage.advance(1_000);
        told.extend(stage.advance(2_000));
        told.extend(stage.advance(3_000));
        told.extend(stage.end(3_500, 1, AttemptEnd::Stopped));
        told
    };
    let first = "1 starts, attempt 1";
    let skipped = ["1 missed, 2 to 2: Overlap", "1 missed, 3 to 3: Overlap", "1 abandoned"];
    assert_eq!(at(Overlap::Skip), [&[first], skipped.as_slice()].concat());
    let allowed = ["2 starts, attempt 1", "3 starts, attempt 1", "1 abandoned"];
    assert_eq!(at(Overlap::Allow), [&[first], allowed.as_slice()].concat());
    let queued = ["1 abandoned", "2 starts, attempt 1"];
    assert_eq!(at(Overlap::Queue), [&[first], queued.as_slice()].concat());
    let replaced = ["1 missed, 2 to 2: Overlap", "1 replaced", "3 starts, attempt 1"];
    assert_eq!(at(Overlap::Replace), [&[first], replaced.as_slice()].concat());
}

#[test]
fn a_failure_is_tried_again_after_a_pause_that_doubles() {
    let mut stage = Stage::new(|it| it.retries = 2);
    assert_eq!(stage.advance(1_000), ["1 starts, attempt 1"]);
    stage.schedule =
        Definition::new("tick", "@yearly").resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
    let failed = || AttemptEnd::Failed("exit code 3".to_owned());
    assert_eq!(stage.end(1_500, 1, failed()), ["1 failed, again"]);
    assert_eq!(stage.advance(2_499), [""; 0]);
    assert_eq!(stage.advance(2_500), ["1 starts, attempt 2"]);
    assert_eq!(stage.end(3_000, 1, AttemptEnd::TimedOut), ["1 timed out, again"]);
    assert_eq!(stage.advance(4_999), [""; 0]);
    assert_eq!(stage.advance(5_000), ["1 starts, attempt 3"]);
    assert_eq!(stage.end(6_000, 1, failed()), ["1 failed"]);
    assert_eq!(stage.entry.totals.failed, 1);
}

#[test]
fn a_run_that_was_cut_off_runs_again_or_is_abandoned() {
    let mut stage = Stage::new(|_| {});
    stage.advance(1_000);
    stage.epoch = 2;
    assert_eq!(stage.advance(1_200), ["1 starts, attempt 2"]);
    assert_eq!(stage.advance(1_300), [""; 0]);
    // The attempt of the earlier term reports too late.
    let late = (stage.entry.running[0].id, 1);
    let told = stage.step(1_400, |entry, _, step| entry.end_attempt(late, AttemptEnd::Done, step));
    assert_eq!(told, [""; 0]);

    let mut stage = Stage::new(|it| it.on_crash = OnCrash::Skip);
    stage.advance(1_000);
    stage.epoch = 2;
    assert_eq!(stage.advance(1_200), ["1 abandoned"]);
}

#[test]
fn a_run_that_is_cut_off_again_and_again_is_abandoned() {
    let mut stage = Stage::new(|it| it.overlap = Overlap::Queue);
    stage.advance(1_000);
    for epoch in 2..=u64::from(LOSSES_MAX) + 1 {
        stage.epoch = epoch;
        assert_eq!(stage.advance(1_000 + epoch), [format!("1 starts, attempt {epoch}")]);
    }
    stage.epoch += 1;
    assert_eq!(stage.advance(1_900), ["1 abandoned"]);
}

#[test]
fn a_pause_owes_nothing_and_does_not_keep_people_from_running_it() {
    let mut stage = Stage::new(|_| {});
    stage.entry.pause(START_MS).expect("it is not");
    assert!(matches!(stage.entry.pause(START_MS), Err(EditRefused::Paused { .. })));
    assert_eq!(stage.advance(5_000), [""; 0]);
    stage.entry.request(START_MS + 5_000).expect("it may");
    assert_eq!(stage.advance(5_100), ["5 starts, attempt 1"]);
    stage.end(5_200, 5, AttemptEnd::Done);
    stage.entry.resume(&stage.schedule, START_MS + 8_500).expect("it is paused");
    assert_eq!(stage.advance(8_600), [""; 0]);
    assert_eq!(stage.advance(9_000), ["9 starts, attempt 1"]);
    assert_eq!(stage.entry.revision, 4);
}

#[test]
fn a_run_that_people_ask_for_in_a_pause_does_not_wait_for_one_that_failed() {
    let mut stage = Stage::new(|it| it.retries = 1);
    stage.advance(1_000);
    stage.end(1_100, 1, AttemptEnd::TimedOut);
    stage.entry.pause(START_MS + 1_200).expect("it is not yet");
    stage.entry.request(START_MS + 3_000).expect("it may");
    assert_eq!(stage.advance(3_000), ["3 starts, attempt 1"]);
    assert_eq!(stage.end(3_500, 3, AttemptEnd::TimedOut), ["3 timed out, again"]);
    assert_eq!(stage.entry.due_ms(&stage.schedule), Some(START_MS + 4_500));
    assert_eq!(stage.advance(4_500), ["3 starts, attempt 2"]);
    stage.entry.resume(&stage.schedule, START_MS + 4_600).expect("it is paused");
    assert_eq!(stage.advance(4_600), [""; 0], "one at a time");
    assert_eq!(stage.end(4_700, 3, AttemptEnd::Done), ["3 done", "1 starts, attempt 2"]);
}

#[test]
fn retries_of_several_runs_follow_each_other_once_they_may_not_overlap() {
    let mut stage = Stage::new(|it| (it.overlap, it.retries) = (Overlap::Allow, 1));
    stage.advance(1_000);
    stage.advance(2_000);
    stage.end(2_100, 1, AttemptEnd::TimedOut);
    stage.end(2_200, 2, AttemptEnd::TimedOut);
    let mut definition = Definition::new("tick", "@yearly");
    (definition.overlap, definition.retries) = (Overlap::Queue, 1);
    stage.schedule = definition.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
    stage.entry.declare(&stage.schedule, START_MS + 2_300);
    assert_eq!(stage.advance(4_000), ["1 starts, attempt 2"]);
    let yearly = stage.schedule.next_after(&stage.entry.last).map(|slot| slot.at_ms);
    assert_eq!(stage.entry.due_ms(&stage.schedule), yearly, "nothing before the run ends");
    assert_eq!(stage.end(4_500, 1, AttemptEnd::Done), ["1 done", "2 starts, attempt 2"]);
}

#[test]
fn a_pause_records_the_slots_that_it_drops() {
    let mut stage = Stage::new(|it| it.overlap = Overlap::Queue);
    stage.advance(1_000);
    stage.advance(3_000);
    let asked = stage.entry.request(START_MS + 3_000).expect("it may");
    stage.entry.pause(START_MS + 3_100).expect("it is not yet");
    assert_eq!(stage.entry.waiting, [asked]);
    assert_eq!(stage.entry.totals.missed, 2);
    let (first_ms, last_ms) = (START_MS + 2_000, START_MS + 3_000);
    let reason = MissReason::Withdrawn;
    let missed = HistoryEntry::Missed { count: 2, first_ms, last_ms, reason };
    assert_eq!(stage.entry.history.back(), Some(&missed));
}

#[test]
fn a_run_of_a_removed_schedule_is_not_tried_again() {
    let mut stage = Stage::new(|it| it.retries = 3);
    stage.advance(1_000);
    stage.end(1_100, 1, AttemptEnd::TimedOut);
    let told = stage.step(1_200, |entry, _, step| {
        entry.withdraw(step);
        entry.settle_cut_off(step);
    });
    assert_eq!(told, ["1 abandoned"]);
    assert!(stage.entry.running.is_empty());
}

#[test]
fn new_times_count_from_the_change_on_and_new_policies_at_once() {
    let mut stage = Stage::new(|_| {});
    let mut policies = stage.schedule.definition.clone();
    policies.misfire = Misfire::Skip;
    let schedule = policies.clone().resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
    let last = stage.entry.last;
    stage.entry.declare(&schedule, START_MS + 5_000);
    assert_eq!((stage.entry.last, stage.entry.revision), (last, 2));
    policies.cron = "*/2 * * * * *".to_owned();
    let schedule = policies.resolve(&|_| Ok(TimeZone::UTC)).expect("it is right");
    stage.entry.declare(&schedule, START_MS + 5_000);
    assert_eq!((stage.entry.last.at_ms, stage.entry.revision), (START_MS + 5_000, 3));
    stage.entry.declare(&schedule, START_MS + 6_000);
    assert_eq!(stage.entry.revision, 3, "nothing changed");
}

#[test]
fn a_queue_that_is_full_misses_slots() {
    let mut stage = Stage::new(|it| {
        it.overlap = Overlap::Queue;
        it.misfire = Misfire::CatchUp { cap: 100, age_ms: u64::MAX };
    });
    stage.advance(1_000);
    let told = stage.advance(101_000);
    assert_eq!(told, [""; 0]);
    assert_eq!(stage.entry.waiting.len(), 100);
    assert_eq!(stage.advance(102_000), ["1 missed, 102 to 102: TooMany"]);
}

#[test]
fn an_entry_is_kept_as_json() {
    let mut stage = Stage::new(|it| it.misfire = Misfire::CatchUp { cap: 3, age_ms: 60_000 });
    stage.advance(1_000);
    stage.advance(2_000);
    let json = serde_json::to_string(&stage.entry).expect("plain data");
    assert_eq!(serde_json::from_str::<Entry>(&json).expect("what was written"), stage.entry);
}

#[test]
fn history_is_kept_short_and_whole() {
    let run = |id_ms, started_ms, ended_ms| HistoryEntry::Run {
        id: RunId { at_ms: id_ms, requested: 2 },
        attempts: 3,
        node: NodeId::new("node-1").expect("a plain name"),
        started_ms,
        ended_ms,
        outcome: RunOutcome::Failed("exit code 3".to_owned()),
    };
    let missed = |first_ms, last_ms| HistoryEntry::Missed {
        count: 7,
        first_ms,
        last_ms,
        reason: MissReason::TooMany,
    };
    // In order, with a clock that was set back, and with the ends of all times.
    let times = [(5_000, 5_012, 5_100), (5_000, 4_000, 3_000), (u64::MAX, 0, u64::MAX)];
    for (slot_ms, started_ms, ended_ms) in times {
        for entry in [run(slot_ms, started_ms, ended_ms), missed(slot_ms, started_ms)] {
            let json = serde_json::to_string(&entry).expect("plain data");
            assert_eq!(serde_json::from_str::<HistoryEntry>(&json).expect("its own text"), entry);
        }
    }
    let json = serde_json::to_string(&run(5_000, 5_012, 5_100)).expect("plain data");
    assert_eq!(json, r#"{"run":[[5000,2],3,"node-1",12,88,{"failed":"exit code 3"}]}"#);
}
