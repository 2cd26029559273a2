//! Runs of a schedule: those under way, and how past ones ended.

use serde::{Deserialize, Serialize};

use crate::ids::{Epoch, NodeId};
use crate::schedule::slot::RunId;

/// Names one attempt among all of a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttemptId {
    /// The schedule.
    pub schedule: String,
    /// Which of its runs.
    pub run: RunId,
    /// Which attempt of that run, from 1.
    pub attempt: u32,
}

/// A scheduler, among all that a namespace ever had. A later one is greater.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Claimant {
    /// Its term.
    pub epoch: Epoch,
    /// Which scheduler of that term, from 0: one that failed is followed by another.
    pub number: u32,
}

/// A run under way. It was claimed by the write that put it here, before it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveRun {
    /// Which one.
    pub id: RunId,
    /// The attempt that runs or ran last, from 1.
    pub attempt: u32,
    /// How many attempts failed or took too long.
    pub failures: u32,
    /// How many attempts were cut off, by a crash or the end of a term.
    pub losses: u32,
    /// The scheduler that the last attempt belongs to. It ends with that scheduler.
    pub claimant: Claimant,
    /// The node that it runs on.
    pub node: NodeId,
    /// When the last attempt was claimed, in Unix milliseconds.
    pub since_ms: u64,
    /// How it stands.
    pub state: RunState,
}

/// How a run under way stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Its attempt is claimed, and runs or is about to.
    Running,
    /// Its attempt is to stop, since a newer slot replaces it.
    Stopping,
    /// Its last attempt has ended; the next one comes at this time, in Unix milliseconds.
    RetryAt(u64),
}

/// How an attempt ended, as its leader reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It succeeded.
    Done,
    /// It failed with this message.
    Failed(String),
    /// It was stopped because it took longer than its timeout.
    TimedOut,
    /// It was stopped because it was told to.
    Stopped,
    /// It was cut off, though its scheduler goes on: it failed to be kept running until its end.
    CutOff,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// It succeeded.
    Done,
    /// Its last attempt failed with this message.
    Failed(String),
    /// Its last attempt took longer than its timeout.
    TimedOut,
    /// It was stopped for a newer slot.
    Replaced,
    /// Its attempt was cut off, and it does not run again.
    Abandoned,
}

impl RunOutcome {
    /// Did the work not get done, for a reason that deserves a look?
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::TimedOut | Self::Abandoned)
    }

    /// One word or two, for people and for labels of metrics.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::TimedOut => "timed out",
            Self::Replaced => "replaced",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Why slots were not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MissReason {
    /// No leader was there in time to run them.
    Late,
    /// A run of the schedule was under way.
    Overlap,
    /// Too many of them waited already.
    TooMany,
    /// The schedule was paused, changed or removed while they waited.
    Withdrawn,
}

impl MissReason {
    /// One word or two, for tables and for labels of metrics.
    pub fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Overlap => "overlap",
            Self::TooMany => "too-many",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The rest of a sentence that begins with how many slots were missed.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Late => "no leader was there in time",
            Self::Overlap => "a run was still under way",
            Self::TooMany => "too many runs were waiting",
            Self::Withdrawn => "the schedule was paused or removed",
        }
    }
}

/// Something of the past of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptHistory", into = "KeptHistory")]
pub enum HistoryEntry {
    /// A run.
    Run {
        /// Which one.
        id: RunId,
        /// How many attempts it took.
        attempts: u32,
        /// The node of the last attempt.
        node: NodeId,
        /// When the last attempt started, in Unix milliseconds.
        started_ms: u64,
        /// When it ended, in Unix milliseconds.
        ended_ms: u64,
        /// How it ended.
        outcome: RunOutcome,
    },
    /// Slots that were not run.
    Missed {
        /// How many, up to a limit.
        count: u32,
        /// The oldest, in Unix milliseconds.
        first_ms: u64,
        /// The newest, in Unix milliseconds.
        last_ms: u64,
        /// Why.
        reason: MissReason,
    },
}

/// The past as a page keeps it. It is most of a page, which is written as a whole for each slot:
/// values without their names, and times as differences, make that half as large.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeptHistory {
    /// Which run, its attempts, its node, how long after its slot it started, how long it took, how
    /// it ended. A clock that was set back makes a difference less than 0.
    Run(RunId, u32, NodeId, i64, i64, RunOutcome),
    /// How many, the oldest, how much later the newest was, why.
    Missed(u32, u64, i64, MissReason),
}

impl From<HistoryEntry> for KeptHistory {
    fn from(entry: HistoryEntry) -> Self {
        let after = |ms: u64, before_ms: u64| ms.wrapping_sub(before_ms).cast_signed();
        match entry {
            HistoryEntry::Run { id, attempts, node, started_ms, ended_ms, outcome } => {
                let (late, took) = (after(started_ms, id.at_ms), after(ended_ms, started_ms));
                Self::Run(id, attempts, node, late, took, outcome)
            }
            HistoryEntry::Missed { count, first_ms, last_ms, reason } => {
                Self::Missed(count, first_ms, after(last_ms, first_ms), reason)
            }
        }
    }
}

impl From<KeptHistory> for HistoryEntry {
    fn from(kept: KeptHistory) -> Self {
        match kept {
            KeptHistory::Run(id, attempts, node, late, took, outcome) => {
                let started_ms = id.at_ms.wrapping_add_signed(late);
                let ended_ms = started_ms.wrapping_add_signed(took);
                Self::Run { id, attempts, node, started_ms, ended_ms, outcome }
            }
            KeptHistory::Missed(count, first_ms, span, reason) => {
                let last_ms = first_ms.wrapping_add_signed(span);
                Self::Missed { count, first_ms, last_ms, reason }
            }
        }
    }
}
