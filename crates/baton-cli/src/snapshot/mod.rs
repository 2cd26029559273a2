//! A namespace as somebody sees it who takes no part.
//!
//! ```text
//!   store ── inspect, members, history ──► gather ──► Snapshot ──► render: a table
//!                                                        │ two of them
//!                                                        ▼
//!                                                     changes: joined, left, leads
//! ```
//!
//! The store is authoritative for who holds the lease. Ages are the store's, stamps are for people.

mod change;
mod gather;
mod render;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use baton_core::LateNotice;
use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{TermEnd, Wish};
use serde::Serialize;

pub use change::{Change, changes, first};
pub use gather::gather;
pub use render::{dialled, render, term_end};

/// A namespace at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    /// The store, without its password.
    pub store: String,
    /// Which namespace.
    pub namespace: Namespace,
    /// The last epoch granted; 0 if none was.
    pub epoch: u64,
    /// Who leads; `None` if nobody holds a lease that lasts.
    pub coordinator: Option<Coordinator>,
    /// Whose lease is over though nobody took it yet.
    pub lapsed: Option<NodeId>,
    /// What the leader was asked.
    pub asked: Option<Wish>,
    /// Why a crash of the leader would be noticed late, if so.
    pub crash: Option<LateNotice>,
    /// Who would be next, best first, as the leader published it.
    pub successors: Vec<NodeId>,
    /// The last change of leader.
    pub last_change: Option<LeaderChange>,
    /// Every registered node.
    pub members: Vec<MemberState>,
}

/// Whoever leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coordinator {
    /// The node.
    pub node: NodeId,
    /// Its process.
    pub boot: BootId,
    /// Since when, in Unix milliseconds.
    pub since_ms: Option<u64>,
    /// How long its lease lasts, in milliseconds.
    pub lease_timeout_ms: u64,
    /// How much of that is left; `None` where only observers can tell.
    pub lease_left_ms: Option<u64>,
    /// Where its lifeline listens.
    pub lifeline: Option<String>,
    /// The same with the key that a hint to it is signed with, which no output contains.
    #[serde(skip)]
    pub nudged_at: Option<Arc<str>>,
}

/// What a node is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It leads.
    Leader,
    /// It may lead.
    Candidate,
    /// It may not.
    Observer,
    /// It is on its way out.
    Draining,
    /// It has not been heard of for longer than `worker_timeout`.
    Silent,
}

impl State {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Candidate => "candidate",
            Self::Observer => "observer",
            Self::Draining => "draining",
            Self::Silent => "silent",
        }
    }
}

/// One registered node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberState {
    /// The node.
    pub node: NodeId,
    /// Its process.
    pub boot: BootId,
    /// What it is up to.
    pub state: State,
    /// How many jobs it has.
    pub load: u32,
    /// How long ago its last beat was, if the store can tell.
    pub silent_ms: Option<u64>,
    /// Its beats so far.
    pub beats: u64,
    /// Higher leads first under the `priority` policy.
    pub priority: i32,
    /// The version of its service.
    pub version: String,
    /// Where its lifeline listens.
    pub lifeline: Option<String>,
    /// What it says of itself.
    pub labels: BTreeMap<String, String>,
}

/// A change of leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaderChange {
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    /// Who led.
    pub from: Option<NodeId>,
    /// Who leads; `None` if nobody came after.
    pub to: Option<NodeId>,
    /// How the term before ended.
    pub why: Option<TermEnd>,
    /// How long no node could act in between, at least.
    pub gap_ms: Option<u64>,
    /// How long that can have been at most, if that is not the same.
    pub gap_at_most_ms: Option<u64>,
}
