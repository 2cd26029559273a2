//! What came of one run.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::Epoch;
use serde::Serialize;

use crate::clock::True;
use crate::coverage::Coverage;
use crate::fact::Who;
use crate::invariants::Violation;

/// What came of one run.
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// The first broken promise.
    pub violation: Option<Violation>,
    /// What happened.
    pub coverage: Coverage,
    /// Numbers.
    pub stats: Stats,
    /// Line by line, if it was kept.
    pub trace: String,
}

/// Why there was no leader for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCause {
    /// It died, and the lifeline proved it.
    CrashProved,
    /// It died, and nobody could tell.
    CrashSilent,
    /// It gave up in an orderly way.
    Handover,
    /// It was paused past its window.
    Pause,
    /// It could not renew in time.
    Unreachable,
}

/// A stretch of leadership, for plots.
#[derive(Clone, Copy, Debug)]
pub struct Reign {
    /// Whose.
    pub who: Who,
    /// Of which term.
    pub epoch: Epoch,
    /// From when.
    pub from: True,
    /// Until when; `None` at the end of the run.
    pub until: Option<(True, GapCause)>,
}

/// A fault that a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A process died.
    Crash,
    /// A process was told to leave.
    Leave,
    /// A process was paused.
    Pause,
    /// A node was cut off.
    Cut,
    /// The store was away.
    StoreAway,
}

/// A fault as it happened.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    /// What.
    pub mark: Mark,
    /// To whom; `None` for the store.
    pub slot: Option<usize>,
    /// From when.
    pub from: True,
    /// Until when.
    pub until: True,
}

/// Numbers of one run.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// How much time passed in it.
    pub simulated: Duration,
    /// How many events.
    pub events: u64,
    /// Beats of nodes that were answered.
    pub beats: u64,
    /// Requests by kind.
    pub requests: BTreeMap<&'static str, u64>,
    /// Changes that were called flapping.
    pub flap_warnings: u64,
    /// Every stretch of leadership, in order.
    pub reigns: Vec<Reign>,
    /// Faults as they happened, for plots.
    pub marks: Vec<Marked>,
}

impl Stats {
    /// A fault strikes.
    pub fn mark(&mut self, mark: Mark, slot: Option<usize>, from: True, until: True) {
        self.marks.push(Marked { mark, slot, from, until });
    }

    /// A term's work begins.
    pub fn reign_begins(&mut self, at: True, who: Who, epoch: Epoch) {
        self.reigns.push(Reign { who, epoch, from: at, until: None });
    }

    /// A term's work ends, unless its end is known already.
    pub fn reign_ends(&mut self, at: True, who: Who, cause: GapCause) {
        let open = self.reigns.iter_mut().rev().take(8);
        let mut open = open.filter(|reign| reign.who == who && reign.until.is_none());
        if let Some(reign) = open.next() {
            reign.until = Some((at, cause));
        }
    }

    /// The times without a leader, between one term's end and the next one's start.
    pub fn gaps(&self) -> impl Iterator<Item = (GapCause, Duration)> {
        self.reigns.windows(2).filter_map(|pair| {
            let (ended, cause) = pair[0].until?;
            Some((cause, pair[1].from.since(ended)))
        })
    }
}
