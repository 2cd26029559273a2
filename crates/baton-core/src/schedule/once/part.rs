//! A process's part in the work of a key: what it asks the store for, and what each answer means.
//!
//! ```text
//!   OnceWait: looks ──► it has ended
//!      │ leads    ▲
//!      ▼          │ the term is over
//!   OnceTerm: reads ──► writes a claim ──► Run: the work ──► OnceEnding: writes the end
//!      ▲                 │ unsure                                 │ unsure
//!      └─────────────────┘                                        └──► reads it
//! ```
//!
//! An answer that says neither yes nor no is never taken for either: the record is read again.

use super::{
    FORMAT, OnceCause, OnceEnd, OnceFailure, OnceLeader, OnceRecord, OnceState, OnceStep,
    OnceSuccess, end_after, ended_attempts, step,
};
use crate::ids::{Epoch, NodeId};
use crate::planted::planted;
use crate::schedule::on_crash::OnCrash;

/// The record as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundRecord {
    /// The record; `None` if no node ever began the work.
    pub record: Option<OnceRecord>,
    /// The version of its document; 0 if there is none.
    pub version: u64,
}

/// A record that is to be written under the epoch of the term, in place of the one that was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct OnceWrite {
    /// The record.
    pub record: OnceRecord,
    /// The version that it replaces; 0 if there must be none.
    pub over: u64,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnceWritten {
    /// It is there, at this version.
    Yes(u64),
    /// Something else is there, or it is not known.
    Unsure,
    /// A later epoch exists.
    Fenced,
}

/// A process that waits until the work of a key has ended, or until it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OnceWait {
    /// How many attempts had ended when it began to wait.
    known: u32,
    on_crash: OnCrash,
    /// The last term in which it was handed a run.
    ran_in: Epoch,
}

impl OnceWait {
    /// A process that begins to wait when this is the record.
    pub fn since(record: Option<&OnceRecord>, on_crash: OnCrash) -> Self {
        Self { known: ended_attempts(record), on_crash, ran_in: Epoch::NONE }
    }

    /// How the work has ended for this process. `None` while it is to wait.
    pub fn look(&self, record: Option<&OnceRecord>) -> Option<OnceEnd> {
        end_after(record, self.known)
    }

    /// Call this when [`OnceAction::Run`] hands a run out: a term has one.
    pub fn handed_out(&mut self, epoch: Epoch) {
        self.ran_in = epoch;
    }
}

/// What a leader does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum OnceAction {
    /// Read the record, and give it to [`OnceTerm::handle_read`].
    Read,
    /// Write this, and give the answer to [`OnceTerm::handle_written`].
    Write(OnceWrite),
    /// Run the work, unless the term is over: its claim is in the store.
    Run(OnceClaim),
    /// There is nothing to run.
    End(OnceEnd),
    /// The run of this term was handed out before, and given back without an end: it was cut off.
    /// Give the term up, so that a later one decides.
    Resign,
}

/// What a leader does before the work: it reads the record, and claims the next attempt if there is
/// one. A request that fails is sent again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnceTerm {
    wait: OnceWait,
    epoch: Epoch,
    node: NodeId,
    sent: Option<OnceWrite>,
}

impl OnceTerm {
    /// A term of a process that waited. Its first action is [`OnceAction::Read`].
    pub fn new(wait: OnceWait, epoch: Epoch, node: NodeId) -> Self {
        Self { wait, epoch, node, sent: None }
    }

    /// The record as it is in the store, at this time in Unix milliseconds.
    pub fn handle_read(&mut self, found: FoundRecord, now_ms: u64) -> OnceAction {
        let FoundRecord { record, version } = found;
        let leader = OnceLeader { epoch: self.epoch, node: self.node.clone(), now_ms };
        let step = step(record.as_ref(), leader, self.wait.known, self.wait.on_crash);
        let record = match (step, record) {
            (OnceStep::End(end), _) => return OnceAction::End(end),
            // That a later epoch exists is soon known to the node too.
            (OnceStep::TermOver, _) | (OnceStep::Run, None) => return OnceAction::Read,
            (OnceStep::Run, Some(own)) => return self.run(&own, version),
            (OnceStep::Abandon(record) | OnceStep::Claim(record), _) => record,
        };
        if planted!(OnceRunsUnclaimed) {
            return self.written(&record, version);
        }
        let write = OnceWrite { record, over: version };
        self.sent = Some(write.clone());
        OnceAction::Write(write)
    }

    /// The answer to the write.
    pub fn handle_written(&mut self, written: OnceWritten) -> OnceAction {
        let Some(sent) = self.sent.take() else { return OnceAction::Read };
        match written {
            OnceWritten::Yes(version) => self.written(&sent.record, version),
            _ if planted!(OnceUnsureClaimIsWritten) => self.written(&sent.record, sent.over + 1),
            OnceWritten::Unsure if planted!(OnceUnsureNotRead) => {
                self.sent = Some(sent.clone());
                OnceAction::Write(sent)
            }
            OnceWritten::Unsure | OnceWritten::Fenced => OnceAction::Read,
        }
    }

    /// This record is in the store.
    fn written(&self, record: &OnceRecord, version: u64) -> OnceAction {
        match &record.state {
            OnceState::Running(_) => self.run(record, version),
            _ => self.wait.look(Some(record)).map_or(OnceAction::Read, OnceAction::End),
        }
    }

    fn run(&self, claim: &OnceRecord, version: u64) -> OnceAction {
        if self.wait.ran_in == self.epoch && !planted!(OnceTermRunsTwice) {
            return OnceAction::Resign;
        }
        OnceAction::Run(OnceClaim { attempt: claim.attempt, node: self.node.clone(), version })
    }
}

/// A claim that is in the store: an attempt that its leader runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnceClaim {
    attempt: u32,
    node: NodeId,
    version: u64,
}

impl OnceClaim {
    /// The number of the attempt.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The version of the document that says so.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The work was done, at this time in Unix milliseconds.
    pub fn succeeded(&self, finished_ms: u64, took_ms: u64) -> OnceEnding {
        let success = OnceSuccess { node: self.node.clone(), finished_ms, took_ms };
        self.ended(OnceState::Succeeded(success))
    }

    /// The work failed, at this time in Unix milliseconds.
    pub fn failed(&self, finished_ms: u64, cause: OnceCause) -> OnceEnding {
        let (attempt, node) = (self.attempt, self.node.clone());
        self.ended(OnceState::Failed(OnceFailure { attempt, node, finished_ms, cause }))
    }

    fn ended(&self, state: OnceState) -> OnceEnding {
        let record = OnceRecord { format: FORMAT, attempt: self.attempt, state };
        OnceEnding { write: OnceWrite { record, over: self.version } }
    }
}

/// What follows in recording the end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum EndingStep {
    /// Write this, and give the answer to [`OnceEnding::handle_written`].
    Write(OnceWrite),
    /// Read the record, and give it to [`OnceEnding::handle_read`].
    Read,
    /// The end is in the store.
    Recorded,
    /// The end is not in the store and will not be: the attempt counts as cut off.
    NotRecorded,
}

/// Records the end of an attempt in place of its claim, for as long as the term lasts. A request
/// that fails is sent again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnceEnding {
    write: OnceWrite,
}

impl OnceEnding {
    /// How the work ended.
    pub fn end(&self) -> Option<OnceEnd> {
        end_after(Some(&self.write.record), 0)
    }

    /// What to do first.
    pub fn begin(&self) -> EndingStep {
        EndingStep::Write(self.write.clone())
    }

    /// The answer to the write.
    pub fn handle_written(&self, written: OnceWritten) -> EndingStep {
        match written {
            OnceWritten::Yes(_) => EndingStep::Recorded,
            OnceWritten::Fenced if planted!(OnceFencedEndIsWritten) => EndingStep::Recorded,
            OnceWritten::Fenced => EndingStep::NotRecorded,
            OnceWritten::Unsure if planted!(OnceUnsureEndGivenUp) => EndingStep::NotRecorded,
            OnceWritten::Unsure => EndingStep::Read,
        }
    }

    /// The record as it is in the store.
    pub fn handle_read(&self, found: &FoundRecord) -> EndingStep {
        if found.record.as_ref() == Some(&self.write.record) {
            EndingStep::Recorded
        } else if found.version == self.write.over {
            // The write may still be on its way: of two, one takes place.
            self.begin()
        } else {
            EndingStep::NotRecorded
        }
    }
}
