//! A namespace as the store shows it to an outsider.
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
use std::fmt;
use std::sync::Arc;

use baton_core::LateNotice;
use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::protocol::{HandoverKind, TermEnd};
use serde::Serialize;

pub use change::{Change, changes, first};
pub use gather::gather;
pub use render::render;

/// A namespace at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    /// The store, without its password.
    pub store: String,
    pub namespace: Namespace,
    pub epoch: u64,
    /// The leader; `None` if no node holds a valid lease.
    pub coordinator: Option<Coordinator>,
    /// The node whose lease has expired without a successor.
    pub lapsed: Option<NodeId>,
    pub asked: Option<HandoverKind>,
    /// Why a crash of the leader would be noticed late, if so.
    pub crash: Option<LateNotice>,
    /// The successors, best first, as the leader published them.
    pub successors: Vec<NodeId>,
    pub last_change: Option<LeaderChange>,
    pub members: Vec<MemberState>,
}

/// The leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coordinator {
    pub node: NodeId,
    pub boot: BootId,
    /// Since when, in Unix milliseconds.
    pub since_ms: Option<u64>,
    /// How long its lease lasts, in milliseconds.
    pub lease_timeout_ms: u64,
    /// How much of that is left; `None` where only observers can tell.
    pub lease_left_ms: Option<u64>,
    pub lifeline: Option<String>,
    /// The same with the key that a hint to it is signed with, which no output contains.
    #[serde(skip)]
    pub nudged_at: Option<Arc<str>>,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Leader,
    Candidate,
    Observer,
    Draining,
    /// It has not been heard of for longer than `worker_timeout`.
    Silent,
}

/// The name that it has in JSON.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One registered node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberState {
    pub node: NodeId,
    pub boot: BootId,
    pub state: State,
    pub load: u32,
    /// How long ago its last beat was, if the store can tell.
    pub silent_ms: Option<u64>,
    pub beats: u64,
    /// Higher leads first under the `priority` policy.
    pub priority: i32,
    pub version: String,
    pub lifeline: Option<String>,
    pub labels: BTreeMap<String, String>,
}

/// A change of leader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeaderChange {
    /// When, in Unix milliseconds.
    pub at_ms: u64,
    pub from: Option<NodeId>,
    /// The new leader; `None` if no node took over.
    pub to: Option<NodeId>,
    /// How the term before ended.
    pub why: Option<TermEnd>,
    /// How long no node could act in between, at least.
    pub gap_ms: Option<u64>,
    /// How long that can have been at most, if that is not the same.
    pub gap_at_most_ms: Option<u64>,
}
