//! Old records of baton's own: what a leader asks a store to let go.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which records go. The present term and the records of nodes that still beat never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prune {
    /// How long a node must have been silent before its record goes, by the clock that the store
    /// has: its own, or, where it tells no ages, that of the handle which kept looking.
    pub dead_for: Duration,
    /// How many of the last terms stay; the newest stays in any case.
    pub keep_terms: usize,
    /// The most records that go in one step.
    pub limit: u32,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PruneOutcome {
    /// The prune was carried out, up to its limit.
    Pruned {
        /// The number of records that went: nodes first, then terms.
        records: u32,
    },
    /// A later epoch exists: the caller's term is over, and nothing went.
    Fenced,
}
