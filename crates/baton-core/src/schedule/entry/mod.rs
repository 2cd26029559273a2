//! One schedule as the store keeps it: how far it has come, what runs, what was.
//!
//! ```text
//!   due ──► waiting ──► running ──► done
//!    │        │           │  ├────► failed, timed out ──► again after a pause, as often as allowed
//!    │        │           │  ├────► cut off: again under the next leader, or abandoned
//!    └─ missed ◄──────────┘  └────► replaced
//! ```
//!
//! `decide` has the steps of the leader, `edit` those of people and of what is declared. Nothing
//! here asks the time or writes anything: each step changes a copy, and takes effect when the
//! leader has written that copy over what it was made from. Slots count as decided from then on.

mod decide;
mod edit;
mod run;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Schedule};
use super::due::MissedSlots;
use super::page::WriterId;
use super::slot::{RunId, Slot};
use crate::event::Event;
use crate::ids::NodeId;

pub use edit::EditRefused;
pub use run::{
    ActiveRun, AttemptEnd, AttemptId, Claimant, HistoryEntry, MissReason, RunOutcome, RunState,
};

/// How much of the past is kept for each schedule.
pub const HISTORY_MAX: usize = 8;

/// How many runs of one schedule are under way at once, where they may overlap.
pub const CONCURRENT_MAX: usize = 16;

/// After this many attempts that were cut off a run is abandoned: it may be the reason.
pub const LOSSES_MAX: u32 = 5;

/// The longest message of a failure that is kept, in characters.
const MESSAGE_MAX: usize = 120;

/// One schedule as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is.
    pub definition: Definition,
    /// Raised by every change of the definition, and by everything that people ask for.
    pub revision: u64,
    /// The last slot that was decided on.
    pub last: Slot,
    /// Since when it is paused, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_ms: Option<u64>,
    /// Since when no leader has declared it, in Unix milliseconds. It is not due then, and is
    /// forgotten after a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undeclared_ms: Option<u64>,
    /// The last edit that a person made, by its write. A person's process that got no answer finds
    /// out by this whether its edit was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<WriterId>,
    /// What is to be run as soon as it may, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<RunId>,
    /// The runs under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<ActiveRun>,
    /// The last of what was, the oldest first.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub history: VecDeque<HistoryEntry>,
    /// Counts since the schedule was declared first.
    #[serde(default)]
    pub totals: Totals,
}

/// Counts of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Runs that succeeded.
    pub done: u64,
    /// Runs that failed, took too long or were abandoned.
    pub failed: u64,
    /// Slots that were not run.
    pub missed: u64,
}

/// One step of a leader: when, who, and what it tells once the step has taken effect.
pub(super) struct Step<'a> {
    pub(super) now_ms: u64,
    pub(super) claimant: Claimant,
    pub(super) node: &'a NodeId,
    pub(super) events: Vec<Event>,
}

impl Entry {
    /// A schedule that is declared for the first time: its first slot is the next one.
    pub(super) fn new(schedule: &Schedule, now_ms: u64) -> Self {
        Self {
            definition: schedule.definition.clone(),
            revision: 1,
            last: schedule.recurrence.moment(now_ms),
            paused_ms: None,
            undeclared_ms: None,
            edited_by: None,
            waiting: Vec::new(),
            running: Vec::new(),
            history: VecDeque::new(),
            totals: Totals::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Names an attempt of this schedule.
    pub(super) fn attempt_id(&self, run: &ActiveRun) -> AttemptId {
        AttemptId { schedule: self.name().to_owned(), run: run.id, attempt: run.attempt }
    }

    /// Can slots be due, or is it paused or not declared any more?
    pub fn is_active(&self) -> bool {
        self.paused_ms.is_none() && self.undeclared_ms.is_none()
    }

    /// When something of it is due next, in Unix milliseconds.
    pub(super) fn due_ms(&self, schedule: &Schedule) -> Option<u64> {
        if self.undeclared_ms.is_some() {
            return None;
        }
        let retries = self.running.iter().filter_map(|run| match run.state {
            // Each of them waits for what runs, where attempts may not overlap.
            RunState::RetryAt(at_ms) if self.attempts() < self.attempts_max() => {
                (!self.is_held(run)).then_some(at_ms)
            }
            _ => None,
        });
        let next = schedule.next_after(&self.last).filter(|_| self.is_active());
        let next = next.map(|slot| schedule.starts_at(slot));
        retries.chain(next).min()
    }

    fn remember(&mut self, entry: HistoryEntry) {
        while self.history.len() >= HISTORY_MAX {
            self.history.pop_front();
        }
        self.history.push_back(entry);
    }

    fn miss(&mut self, missed: MissedSlots, reason: MissReason, step: &mut Step<'_>) {
        let MissedSlots { count, first_ms, last_ms } = missed;
        self.record_missed(missed, reason);
        let schedule = self.name().to_owned();
        step.events.push(Event::ScheduleMissed { schedule, count, first_ms, last_ms, reason });
    }

    fn record_missed(&mut self, missed: MissedSlots, reason: MissReason) {
        let MissedSlots { count, first_ms, last_ms } = missed;
        self.totals.missed += u64::from(count);
        // What is missed one by one is one entry of the history.
        if let Some(HistoryEntry::Missed { count: known, last_ms: newest, reason: why, .. }) =
            self.history.back_mut()
            && *why == reason
        {
            (*known, *newest) = (known.saturating_add(count), last_ms);
        } else {
            self.remember(HistoryEntry::Missed { count, first_ms, last_ms, reason });
        }
    }
}

#[cfg(test)]
mod tests;
