//! Work that is done once: the record of a key, and what a node does with the record it finds.
//!
//! ```text
//!            claim                     ended with success
//!   none ──────────► running, attempt 1 ──────────────────► succeeded    for ever
//!                     │  ▲
//!     another leads:  │  │ retry: attempt + 1
//!     it was cut off  ├──┘
//!                     │ skip             ended with a failure
//!                     ├──────────► failed ◄── running
//!                                    │ a node that began to wait later: attempt + 1
//!                                    └──────────► running
//! ```
//!
//! Nothing here asks, waits or reads a clock. The record is written under the epoch of its leader,
//! so that a term that is over changes nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::on_crash::OnCrash;
use crate::ids::{Epoch, NodeId};
use crate::planted::planted;
use crate::time::short_span;

mod part;

pub use part::{
    EndingStep, FoundRecord, OnceAction, OnceClaim, OnceEnding, OnceTerm, OnceWait, OnceWrite,
    OnceWritten,
};

/// The document of the record.
pub const DOCUMENT: &str = "baton:once";

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;

/// The number of characters to which an error is cut.
const MESSAGE_MAX: usize = 256;

/// What is known of the work of one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnceRecord {
    /// The format of the document.
    pub format: u32,
    /// The number of the attempt that runs or ended last, from 1.
    pub attempt: u32,
    /// Where it stands.
    pub state: OnceState,
}

/// Where an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnceState {
    /// It was begun. Once another epoch exists, it was cut off.
    Running(OnceRunning),
    /// The work is done.
    Succeeded(OnceSuccess),
    /// It failed, or was cut off and is not run again.
    Failed(OnceFailure),
}

/// An attempt that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnceRunning {
    /// The epoch of its leader.
    pub epoch: Epoch,
    /// The leader.
    pub node: NodeId,
    /// When it began, in Unix milliseconds.
    pub started_ms: u64,
    /// The last failure before it: nodes that waited then end with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<OnceFailure>,
}

/// The work was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnceSuccess {
    /// The node that did it.
    pub node: NodeId,
    /// When it was done, in Unix milliseconds.
    pub finished_ms: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnceFailure {
    /// Its number.
    pub attempt: u32,
    /// The node that ran it.
    pub node: NodeId,
    /// When it failed, or was found to have been cut off, in Unix milliseconds.
    pub finished_ms: u64,
    /// Why.
    pub cause: OnceCause,
}

impl fmt::Display for OnceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempt, node, cause, .. } = self;
        write!(f, "attempt {attempt} on node {node} {cause}")
    }
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OnceCause {
    /// The command ended with this exit code.
    Exit(u8),
    /// The work returned this error.
    Error(String),
    /// The work took longer than this.
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
    /// It was cut off, and is not run again.
    Crash,
}

impl OnceCause {
    /// The work returned this error. A long one is cut.
    pub fn error(message: &str) -> Self {
        Self::Error(message.chars().take(MESSAGE_MAX).collect())
    }
}

impl fmt::Display for OnceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "ended with code {code}"),
            Self::Error(message) => write!(f, "failed: {message}"),
            Self::TimedOut { limit_ms } => {
                write!(f, "was stopped, because it took longer than {}", short_span(*limit_ms))
            }
            Self::Crash => f.write_str("was cut off"),
        }
    }
}

/// How the work of a key has ended, for one that waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OnceEnd {
    /// The work is done.
    Succeeded(OnceSuccess),
    /// An attempt failed since this one began to wait.
    Failed(OnceFailure),
}

/// What a node that has begun to lead does with the record that it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnceStep {
    /// It writes this record, and then runs the work.
    Claim(OnceRecord),
    /// The record is its own claim, written in this term: it runs the work.
    Run,
    /// It writes this record, which says that the work was cut off, and ends.
    Abandon(OnceRecord),
    /// There is nothing to run.
    End(OnceEnd),
    /// A later epoch has written: the term is over.
    TermOver,
}

/// A leader: the epoch of its term, its name, and the time in Unix milliseconds.
#[derive(Clone, Debug)]
pub struct OnceLeader {
    /// The epoch of its term.
    pub epoch: Epoch,
    /// Its name.
    pub node: NodeId,
    /// The time, in Unix milliseconds.
    pub now_ms: u64,
}

/// The number of attempts that have ended: what a node remembers when it begins to wait.
pub fn ended_attempts(record: Option<&OnceRecord>) -> u32 {
    match record.map(|record| (record.attempt, &record.state)) {
        None => 0,
        Some((attempt, OnceState::Running(_))) if planted!(OnceRunCountsAsEnded) => attempt,
        Some((attempt, OnceState::Running(_))) => attempt.saturating_sub(1),
        Some((attempt, _)) => attempt,
    }
}

/// How the work has ended for a node that waits since so many attempts had ended. `None` while it
/// is to wait.
pub fn end_after(record: Option<&OnceRecord>, known: u32) -> Option<OnceEnd> {
    let failure = match &record?.state {
        OnceState::Succeeded(success) => return Some(OnceEnd::Succeeded(success.clone())),
        OnceState::Failed(failure) => Some(failure),
        OnceState::Running(running) => running.after.as_ref(),
    };
    let is_new = |failure: &&OnceFailure| failure.attempt > known || planted!(OnceOldFailureTaken);
    failure.filter(is_new).cloned().map(OnceEnd::Failed)
}

/// What a node does that has begun to lead, and waits since so many attempts had ended.
pub fn step(
    record: Option<&OnceRecord>,
    leader: OnceLeader,
    known: u32,
    on_crash: OnCrash,
) -> OnceStep {
    if let Some(end) = end_after(record, known)
        && !(planted!(OnceSuccessForgotten) && matches!(end, OnceEnd::Succeeded(_)))
    {
        return OnceStep::End(end);
    }
    let Some(record) = record else {
        return OnceStep::Claim(OnceRecord::claim(1, leader, None));
    };
    let after = match &record.state {
        OnceState::Running(running) if running.epoch > leader.epoch => return OnceStep::TermOver,
        OnceState::Running(running)
            if running.epoch == leader.epoch && !planted!(OnceOwnClaimIsCutOff) =>
        {
            return OnceStep::Run;
        }
        OnceState::Running(running)
            if on_crash == OnCrash::Skip && !planted!(OnceCutOffRepeated) =>
        {
            let crash = OnceFailure {
                attempt: record.attempt,
                node: running.node.clone(),
                finished_ms: leader.now_ms,
                cause: OnceCause::Crash,
            };
            return OnceStep::Abandon(record.ended(OnceState::Failed(crash)));
        }
        _ if planted!(OnceFailureForgotten) => None,
        OnceState::Running(running) => running.after.clone(),
        OnceState::Failed(failure) => Some(failure.clone()),
        OnceState::Succeeded(_) if planted!(OnceSuccessForgotten) => None,
        OnceState::Succeeded(success) => {
            return OnceStep::End(OnceEnd::Succeeded(success.clone()));
        }
    };
    let next = record.attempt.saturating_add(u32::from(!planted!(OnceAttemptNotRaised)));
    OnceStep::Claim(OnceRecord::claim(next, leader, after))
}

impl OnceRecord {
    fn claim(attempt: u32, leader: OnceLeader, after: Option<OnceFailure>) -> Self {
        let OnceLeader { epoch, node, now_ms } = leader;
        let running = OnceRunning { epoch, node, started_ms: now_ms, after };
        Self { format: FORMAT, attempt, state: OnceState::Running(running) }
    }

    /// The same attempt, which has ended like this.
    fn ended(&self, state: OnceState) -> Self {
        Self { format: FORMAT, attempt: self.attempt, state }
    }

    /// Where it stands, in one word: `running`, `succeeded`, `failed` or `abandoned`.
    pub fn word(&self) -> &'static str {
        match &self.state {
            OnceState::Running(_) => "running",
            OnceState::Succeeded(_) => "succeeded",
            OnceState::Failed(OnceFailure { cause: OnceCause::Crash, .. }) => "abandoned",
            OnceState::Failed(_) => "failed",
        }
    }
}

#[cfg(test)]
mod tests;
