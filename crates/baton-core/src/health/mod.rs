//! Cluster health: one verdict with its reasons, from what one look at the store showed.
//!
//! ```text
//!   lease, lineage, view ──┐
//!   members ───────────────┼──► judge ──► Health: verdict = the worst of its reasons
//!   term history ──────────┤      ▲          reasons, each with both numbers
//!   how long the store took┘      │          leader, nodes, store
//!                            Limits, from the settings
//! ```
//!
//! Nothing here asks or waits: the time is one of the facts. The leader publishes what it
//! judges, and any other process can judge the same for itself when there is no leader.

mod facts;
mod judge;
mod reason;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::ids::{BootId, Lineage, NodeId};
use crate::protocol::ViewVersion;

pub use facts::{Facts, Limits, PluginNote, Silences};
pub use judge::judge;
pub use reason::Reason;

/// The form of a [`Health`] that was written down. Raised when a reader of the last one would err.
pub const FORMAT: u32 = 1;

/// How a cluster does, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing to be done.
    Healthy,
    /// It coordinates, but less would have to go wrong than should.
    Degraded,
    /// It does not lead, or cannot for long.
    Critical,
}

impl Verdict {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Critical => "critical",
        }
    }
}

/// How a cluster does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// [`FORMAT`].
    pub format: u32,
    /// When it was judged, in Unix milliseconds.
    pub at_ms: u64,
    /// The worst of the reasons; healthy if there is none.
    pub verdict: Verdict,
    /// What is wrong, the worst first.
    pub reasons: Vec<Reason>,
    /// Reasons that were left out of this list.
    pub reasons_left_out: usize,
    /// Who leads.
    pub leader: LeaderHealth,
    /// The store.
    pub store: StoreHealth,
    /// How many nodes there are.
    pub counts: Counts,
    /// The nodes, by id.
    pub nodes: Vec<NodeHealth>,
    /// Nodes that were left out of this list, all of them well.
    pub nodes_left_out: usize,
}

/// Who leads, and how firmly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaderHealth {
    /// The leader; `None` if no node holds a lease that lasts.
    pub node: Option<NodeId>,
    /// The last epoch granted; 0 if none was.
    pub epoch: u64,
    /// How long its term has lasted.
    pub term_ms: Option<u64>,
    /// How long the lease lasts, unrenewed.
    pub lease_timeout_ms: Option<u64>,
    /// How much of that is left; `None` where only observers can tell.
    pub lease_left_ms: Option<u64>,
    /// The view that was published last.
    pub view: Option<ViewVersion>,
    /// Terms that began within the window in which changes are counted.
    pub changes: u32,
}

/// The store, as the look itself met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreHealth {
    /// How long the slowest answer took.
    pub took_ms: u64,
    /// Which line of history its data belongs to.
    pub lineage: Lineage,
}

/// How many nodes there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Every one that has a record.
    pub registered: usize,
    /// Those that beat.
    pub live: usize,
    /// Those of them that may lead and stay, the leader among them.
    pub candidates: usize,
}

/// What a node is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It leads.
    Leader,
    /// It may lead.
    Candidate,
    /// It may not.
    Observer,
    /// It is on its way out.
    Draining,
}

impl Role {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Candidate => "candidate",
            Self::Observer => "observer",
            Self::Draining => "draining",
        }
    }
}

/// Whether a node beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Liveness {
    /// It does.
    Live,
    /// It missed a few beats.
    Late,
    /// It is dropped from the view.
    Silent,
    /// Whatever it had is orphaned.
    Dead,
    /// The store has no clock to tell by, and the leader's view does not have it.
    Unseen,
}

impl Liveness {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Late => "late",
            Self::Silent => "silent",
            Self::Dead => "dead",
            Self::Unseen => "unseen",
        }
    }

    /// Can it be counted on?
    pub fn is_live(self) -> bool {
        matches!(self, Self::Live | Self::Late)
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeHealth {
    /// Which.
    pub node: NodeId,
    /// Its process.
    pub boot: BootId,
    /// What it is there for.
    pub role: Role,
    /// Whether it beats.
    pub liveness: Liveness,
    /// How long ago its last beat was, where that can be told.
    pub silent_ms: Option<u64>,
    /// How many jobs it has.
    pub load: u32,
}

impl Health {
    /// The same with at most this many reasons and nodes: the worst are kept, and every node that
    /// is not well before one that is.
    #[must_use]
    pub fn shortened(mut self, reasons: usize, nodes: usize) -> Self {
        self.reasons_left_out += self.reasons.len().saturating_sub(reasons);
        self.reasons.truncate(reasons);
        self.nodes_left_out += self.nodes.len().saturating_sub(nodes);
        self.nodes.sort_by_key(|node| (node.liveness == Liveness::Live, node.role != Role::Leader));
        self.nodes.truncate(nodes);
        self.nodes.sort_by(|a, b| a.node.cmp(&b.node));
        self
    }
}
