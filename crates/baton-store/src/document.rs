//! Fenced, versioned documents: small state of plugins and of the leader.

use serde::{Deserialize, Serialize};

/// A document as read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Counts its writes, from 1.
    pub version: u64,
    /// What it says.
    pub body: Vec<u8>,
}

/// What must hold for a document to be written. Each names the outcome it yields otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precondition {
    /// Nothing: write in any case.
    Any,
    /// It does not exist; else [`WriteOutcome::Conflict`].
    Absent,
    /// It is at this version; else [`WriteOutcome::Conflict`].
    Version(u64),
}

impl Precondition {
    /// Does it hold for a document at this version, 0 if there is none?
    pub fn holds(self, present: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => present == 0,
            Self::Version(version) => present == version && present != 0,
        }
    }
}

/// What a write of a document came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOutcome {
    /// Written, at this version.
    Written(u64),
    /// The precondition did not hold; this is the version there is, 0 if none.
    Conflict(u64),
    /// A later epoch exists: the writer's term is over.
    Fenced,
}
