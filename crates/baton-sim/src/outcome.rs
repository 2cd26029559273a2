//! What came of one run.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::Epoch;
use serde::Serialize;

use crate::clock::TrueTime;
use crate::coverage::Coverage;
use crate::fact::ProcessId;
use crate::invariants::Violation;

/// What came of one run.
pub struct Outcome {
    pub seed: u64,
    /// The first broken promise.
    pub violation: Option<Violation>,
    pub coverage: Coverage,
    pub stats: Stats,
    pub trace: String,
}

/// Why there was no leader for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapCause {
    CrashProved,
    CrashSilent,
    /// It gave up in an orderly way.
    Handover,
    /// It was paused past its window.
    Pause,
    Unreachable,
}

/// A stretch of leadership, for plots.
#[derive(Clone, Copy, Debug)]
pub struct TermSpan {
    pub pid: ProcessId,
    pub epoch: Epoch,
    pub from: TrueTime,
    /// Until when; `None` at the end of the run.
    pub until: Option<(TrueTime, GapCause)>,
}

/// What a fault that was injected does, for plots and for the times without a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Killed,
    /// A process is asked to leave.
    Leave,
    Pause,
    /// A host has no network.
    Cut,
    StoreAway,
}

/// A fault from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub struct FaultSpan {
    pub kind: FaultKind,
    /// The slot that it happens to; `None` for the store.
    pub slot: Option<usize>,
    pub from: TrueTime,
    pub until: TrueTime,
}

/// Numbers of one run.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub simulated: Duration,
    pub events: u64,
    pub beats: u64,
    pub requests: BTreeMap<&'static str, u64>,
    pub flap_warnings: u64,
    /// Every stretch of leadership, in order.
    pub terms: Vec<TermSpan>,
    /// Every fault, in order of its beginning.
    pub faults: Vec<FaultSpan>,
}

impl Stats {
    /// A fault begins, and will end.
    pub fn fault(&mut self, kind: FaultKind, slot: Option<usize>, from: TrueTime, until: TrueTime) {
        self.faults.push(FaultSpan { kind, slot, from, until });
    }

    /// A term's work begins.
    pub fn term_begins(&mut self, at: TrueTime, pid: ProcessId, epoch: Epoch) {
        self.terms.push(TermSpan { pid, epoch, from: at, until: None });
    }

    /// A term's work ends, unless its end is known already.
    pub fn term_ends(&mut self, at: TrueTime, pid: ProcessId, cause: GapCause) {
        let open = self.terms.iter_mut().rev().take(8);
        let mut open = open.filter(|span| span.pid == pid && span.until.is_none());
        if let Some(span) = open.next() {
            span.until = Some((at, cause));
        }
    }

    /// The times without a leader, between one term's end and the next one's start.
    pub fn gaps(&self) -> impl Iterator<Item = (GapCause, Duration)> {
        self.terms.windows(2).filter_map(|pair| {
            let (ended, cause) = pair[0].until?;
            Some((cause, pair[1].from.since(ended)))
        })
    }
}
