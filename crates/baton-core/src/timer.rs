//! The core's timers: one per purpose. Setting a timer again moves it.

use serde::{Deserialize, Serialize};

/// What a timer is for. At most one of each is set at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// The next beat is due: refresh the node record, and renew, try or look at the lease.
    Beat,
    /// The lease that was last seen should be free by now: try to take it.
    Takeover,
    /// The soft deadline of this node's term: begin to stop its work.
    Soft,
    /// The hard deadline of this node's term: nothing of it may act any more.
    Hard,
    /// A phase of the cold start ends.
    ColdStart,
    /// Time to report who leads, and to notice that no node does.
    ElectionCheck,
    /// A node whose plugins failed to start may be a candidate again.
    Recover,
}

impl Timer {
    /// Every timer, for runtimes that keep them in a table.
    pub const ALL: [Self; 7] = [
        Self::Beat,
        Self::Takeover,
        Self::Soft,
        Self::Hard,
        Self::ColdStart,
        Self::ElectionCheck,
        Self::Recover,
    ];
}
