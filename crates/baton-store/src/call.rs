//! One call of a store as data: a driver takes it in one place, and it can be delayed, dropped,
//! doubled, sent to another process or written down.

use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_core::protocol::{LeaseIntent, Reply, Request, TermRecord};
use serde::{Deserialize, Serialize};

use crate::contract::Inspection;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{Document, Precondition, WriteOutcome};
use crate::error::StoreError;
use crate::prune::{Prune, PruneOutcome};

/// What a store can be asked.
#[expect(clippy::large_enum_variant, reason = "beats are nearly all of the traffic")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// What the core asks for.
    Core(Request),
    /// Looks without taking part.
    Inspect,
    /// Reads a document.
    ReadDocument {
        /// Its name.
        name: String,
    },
    /// Writes a document.
    WriteDocument {
        /// Its name.
        name: String,
        /// What it is to say.
        body: Vec<u8>,
        /// What must hold.
        precondition: Precondition,
        /// Refused once a later epoch exists.
        fence: Option<Epoch>,
    },
    /// Reads the last terms.
    History {
        /// How many at most.
        limit: usize,
    },
    /// Counts.
    Counters(CounterCall),
    /// Lets old records go.
    Prune {
        /// Refused once a later epoch exists.
        fence: Epoch,
        /// Which ones.
        prune: Prune,
    },
}

impl Call {
    /// A short name: the core's for its requests.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Core(request) => request.kind(),
            Self::Inspect => "inspect",
            Self::ReadDocument { .. } => "read-document",
            Self::WriteDocument { .. } => "write-document",
            Self::History { .. } => "history",
            Self::Counters(call) => call.kind(),
            Self::Prune { .. } => "prune",
        }
    }
}

impl Call {
    /// Does it change anything?
    pub fn writes(&self) -> bool {
        match self {
            Self::Core(Request::ReadMembers)
            | Self::Inspect
            | Self::ReadDocument { .. }
            | Self::History { .. } => false,
            Self::Core(_) | Self::WriteDocument { .. } | Self::Prune { .. } => true,
            Self::Counters(call) => call.writes(),
        }
    }

    /// What a store says to it that holds nothing yet; `None` for a call that writes.
    pub fn answer_of_nothing(&self) -> Option<Answer> {
        Some(match self {
            Self::Core(Request::ReadMembers) => Answer::Core(Reply::Members(Vec::new())),
            Self::Inspect => {
                Answer::Inspected(Inspection { lease: None, lineage: Lineage(0), view: None })
            }
            Self::ReadDocument { .. } => Answer::Document(None),
            Self::History { .. } => Answer::History(Vec::new()),
            Self::Counters(call) if !call.writes() => {
                Answer::Counters(CounterAnswer::Readings(Vec::new()))
            }
            _ => return None,
        })
    }

    /// Refuses an epoch that cannot have been granted. It would raise the fence above all terms to
    /// come. Every store asks this before it does anything else.
    pub fn check(&self) -> Result<(), StoreError> {
        let highest = match self {
            Self::Core(Request::Beat(beat)) => match &beat.lease {
                LeaseIntent::Acquire(acquire) => acquire.floor.max(beat.node.seen),
                LeaseIntent::Observe | LeaseIntent::Renew(_) => beat.node.seen,
            },
            Self::Core(Request::PublishView { fence, view }) => (*fence).max(view.version.epoch),
            Self::WriteDocument { fence, .. } => fence.unwrap_or_default(),
            Self::Counters(
                CounterCall::Consolidate { fence, .. } | CounterCall::Collect { fence, .. },
            )
            | Self::Prune { fence, .. } => *fence,
            Self::Core(_)
            | Self::Inspect
            | Self::ReadDocument { .. }
            | Self::History { .. }
            | Self::Counters(_) => Epoch::NONE,
        };
        let refuse = |problem: baton_core::ids::EpochTooHigh| StoreError::Refused {
            detail: problem.to_string(),
        };
        highest.grantable().map(drop).map_err(refuse)
    }
}

/// The answer, of the same kind as the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Call::Core`].
    Core(Reply),
    /// To [`Call::Inspect`].
    Inspected(Inspection),
    /// To [`Call::ReadDocument`].
    Document(Option<Document>),
    /// To [`Call::WriteDocument`].
    Written(WriteOutcome),
    /// To [`Call::History`].
    History(Vec<TermRecord>),
    /// To [`Call::Counters`].
    Counters(CounterAnswer),
    /// To [`Call::Prune`].
    Pruned(PruneOutcome),
}

impl Answer {
    /// Refuses a lease whose epoch cannot be granted: the namespace has no epoch left, and a term
    /// that began now could have the epoch of another. Every store asks this of its answers.
    pub fn check(self, namespace: &Namespace) -> Result<Self, StoreError> {
        let lease = match &self {
            Self::Core(Reply::Beat(reply)) => reply.lease.as_ref(),
            Self::Inspected(inspection) => inspection.lease.as_ref(),
            _ => None,
        };
        let epoch = lease.map_or(Epoch::NONE, |lease| lease.version.epoch);
        match epoch.grantable() {
            Ok(_) => Ok(self),
            Err(problem) => Err(StoreError::Corrupt {
                record: format!("the lease of namespace {namespace}"),
                detail: format!("{problem}; go on in another namespace"),
            }),
        }
    }
}
