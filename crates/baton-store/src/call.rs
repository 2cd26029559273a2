//! One call of a store as data: a driver takes it in one place, and it can be delayed, dropped,
//! doubled, sent to another process or written down.

use baton_core::ids::Epoch;
use baton_core::protocol::{Reply, Request, TermRecord};
use serde::{Deserialize, Serialize};

use crate::contract::Inspection;
use crate::counters::{CounterAnswer, CounterCall};
use crate::document::{Document, Precondition, WriteOutcome};
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
