//! How a schedule stands now, by what the store says of it.

use baton::plugins::schedules::{
    Entry, HistoryEntry, InvalidSchedule, RunState, Schedule, Slot, resolve,
};
use baton_core::ids::Epoch;
use baton_core::schedule::ActiveRun;
use jiff::tz::TimeZone;

use crate::output::style::Tone;

/// A slot that is not decided on this long after it started means that no leader acts: a leader
/// looks at least every few seconds.
const LATE_AFTER_MS: u64 = 10_000;

/// One schedule, now.
pub struct Standing<'a> {
    pub entry: &'a Entry,
    /// Its times; an error if this machine does not know its time zone.
    pub schedule: Result<Schedule, InvalidSchedule>,
    pub now: Now,
}

/// What schedules are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// In Unix milliseconds.
    pub ms: u64,
    /// The epoch of the leader, if there is one.
    pub led: Option<Epoch>,
}

/// The state in a word or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    OnTime,
    /// This many runs are under way.
    Running(usize),
    /// Its run belongs to a term that is over; the next leader decides on it.
    CutOff,
    /// A run that failed or was cut off starts again soon.
    Retrying,
    /// This many runs wait to be started.
    Waiting(usize),
    /// A slot is due and no leader has decided on it.
    Late,
    Paused,
    /// No leader declares it any more.
    Removed,
    /// Its times cannot be computed on this machine.
    Unknown,
}

impl<'a> Standing<'a> {
    pub fn of(entry: &'a Entry, now: Now) -> Self {
        Self { entry, schedule: resolve(entry.definition.clone()), now }
    }

    /// How long ago that was, in milliseconds.
    pub fn since(&self, at_ms: u64) -> u64 {
        self.now.ms.saturating_sub(at_ms)
    }

    /// How long until then, in milliseconds.
    pub fn until(&self, at_ms: u64) -> u64 {
        at_ms.saturating_sub(self.now.ms)
    }

    /// The next slot, if any is due.
    pub fn next(&self) -> Option<Slot> {
        let schedule = self.schedule.as_ref().ok().filter(|_| self.entry.is_active())?;
        schedule.next_after(&self.entry.last)
    }

    /// When the next slot starts, in Unix milliseconds: its jitter is counted in.
    pub fn starts_ms(&self) -> Option<u64> {
        let slot = self.next()?;
        self.schedule.as_ref().ok().map(|schedule| schedule.starts_at(slot))
    }

    pub fn is_late(&self) -> bool {
        self.starts_ms().is_some_and(|at_ms| self.since(at_ms) > LATE_AFTER_MS)
    }

    /// The zone in which its slots are shown.
    pub fn zone(&self) -> TimeZone {
        self.schedule.as_ref().map_or(TimeZone::UTC, |schedule| schedule.recurrence.zone())
    }

    /// Is this run the leader's? One of an earlier term does not go on.
    pub fn is_led(&self, run: &ActiveRun) -> bool {
        self.now.led == Some(run.claimant.epoch)
    }

    pub fn state(&self) -> State {
        let entry = self.entry;
        let waits = |run: &&ActiveRun| matches!(run.state, RunState::RetryAt(_));
        let goes_on = |run: &&ActiveRun| !waits(run) && self.is_led(run);
        match entry.running.iter().filter(goes_on).count() {
            _ if entry.undeclared_ms.is_some() => State::Removed,
            _ if entry.paused_ms.is_some() => State::Paused,
            0 if entry.running.iter().any(|run| waits(&run)) => State::Retrying,
            0 if !entry.running.is_empty() => State::CutOff,
            0 if !entry.waiting.is_empty() => State::Waiting(entry.waiting.len()),
            0 if self.schedule.is_err() => State::Unknown,
            0 if self.is_late() => State::Late,
            0 => State::OnTime,
            count => State::Running(count),
        }
    }

    /// The run that ended last.
    pub fn last_run(&self) -> Option<&'a HistoryEntry> {
        self.entry.history.iter().rev().find(|it| matches!(it, HistoryEntry::Run { .. }))
    }
}

impl State {
    /// For a table.
    pub fn words(self) -> String {
        match self {
            Self::OnTime => "on time".to_owned(),
            Self::Running(1) => "running".to_owned(),
            Self::Running(count) => format!("running {count}"),
            Self::CutOff => "cut off".to_owned(),
            Self::Retrying => "retrying".to_owned(),
            Self::Waiting(count) => format!("waiting {count}"),
            Self::Late => "late".to_owned(),
            Self::Paused => "paused".to_owned(),
            Self::Removed => "removed".to_owned(),
            Self::Unknown => "unknown".to_owned(),
        }
    }

    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnTime => "on-time",
            Self::Running(_) => "running",
            Self::CutOff => "cut-off",
            Self::Retrying => "retrying",
            Self::Waiting(_) => "waiting",
            Self::Late => "late",
            Self::Paused => "paused",
            Self::Removed => "removed",
            Self::Unknown => "unknown",
        }
    }

    pub fn tone(self) -> Tone {
        match self {
            Self::OnTime | Self::Running(_) => Tone::Good,
            Self::CutOff | Self::Retrying | Self::Waiting(_) | Self::Paused => Tone::Warn,
            Self::Late | Self::Unknown => Tone::Bad,
            Self::Removed => Tone::Faint,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use baton::plugins::schedules::{Definition, RunId};
    use baton_core::ids::NodeId;
    use baton_core::schedule::Claimant;
    use baton_core::schedule::entry::Totals;

    use super::*;

    const NOW_MS: u64 = 1_795_053_600_000;
    const EPOCH: Epoch = Epoch(7);

    /// A schedule of every minute that was decided on just now.
    fn entry() -> Entry {
        let last = Slot { at_ms: NOW_MS, local_s: NOW_MS as i64 / 1_000, is_repeated: false };
        Entry {
            definition: Definition::new("report", "* * * * *"),
            revision: 1,
            last,
            paused_ms: None,
            undeclared_ms: None,
            edited_by: None,
            waiting: Vec::new(),
            running: Vec::new(),
            history: VecDeque::new(),
            totals: Totals::default(),
        }
    }

    fn id() -> RunId {
        RunId { at_ms: NOW_MS, requested: 0 }
    }

    fn run(epoch: Epoch, state: RunState) -> ActiveRun {
        ActiveRun {
            id: id(),
            attempt: 1,
            failures: 0,
            losses: 0,
            claimant: Claimant { epoch, number: 0 },
            node: NodeId::new("web-1").expect("it is an id"),
            since_ms: NOW_MS,
            state,
        }
    }

    #[track_caller]
    fn assert_state(expected: &str, change: impl FnOnce(&mut Entry)) {
        let mut entry = entry();
        change(&mut entry);
        let standing = Standing::of(&entry, Now { ms: NOW_MS, led: Some(EPOCH) });
        assert_eq!(standing.state().words(), expected);
    }

    #[test]
    fn the_state_is_what_a_person_should_know_first() {
        let running = || run(EPOCH, RunState::Running);
        assert_state("on time", |_| {});
        assert_state("running", |it| it.running = vec![running()]);
        assert_state("running 2", |it| it.running = vec![running(), running()]);
        assert_state("waiting 1", |it| it.waiting = vec![id()]);
        assert_state("running", |it| {
            it.running = vec![running()];
            it.waiting = vec![id()];
        });
        assert_state("cut off", |it| it.running = vec![run(Epoch(6), RunState::Running)]);
        assert_state("retrying", |it| it.running = vec![run(EPOCH, RunState::RetryAt(NOW_MS))]);
        assert_state("unknown", |it| it.definition.tz = "Middle-earth/Bag End".to_owned());
        assert_state("paused", |it| {
            it.paused_ms = Some(1);
            it.running = vec![running()];
        });
        assert_state("removed", |it| {
            it.undeclared_ms = Some(1);
            it.paused_ms = Some(1);
        });
    }

    #[test]
    fn a_slot_that_no_leader_decides_on_is_late_after_ten_seconds() {
        let entry = entry();
        for (after_ms, expected) in
            [(59_000, State::OnTime), (70_000, State::OnTime), (70_001, State::Late)]
        {
            let now = Now { ms: NOW_MS + after_ms, led: None };
            assert_eq!(Standing::of(&entry, now).state(), expected, "{after_ms}");
        }
    }

    #[test]
    fn a_schedule_that_is_not_due_has_no_next_slot() {
        let mut entry = entry();
        let now = Now { ms: NOW_MS, led: None };
        let starts_ms = |entry: &Entry| Standing::of(entry, now).starts_ms();
        assert_eq!(starts_ms(&entry), Some(NOW_MS + 60_000));
        entry.paused_ms = Some(NOW_MS);
        assert_eq!(starts_ms(&entry), None);
    }
}
