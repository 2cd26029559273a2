//! The reasons of a verdict: stable names, one sentence each, with both numbers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::facts::Limits;
use crate::ids::NodeId;

/// What is wrong. All spans are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// No node is registered.
    NoNode,
    /// No node holds a lease that lasts.
    NoCoordinator {
        /// For how long, if that can be told.
        for_ms: Option<u64>,
        /// How long an election may take.
        limit_ms: u64,
    },
    /// No node leads, and no node that may lead is live.
    NoCandidate {
        /// The number of registered nodes.
        registered: usize,
    },
    /// A node leads, but too few nodes could take over.
    FewCandidates {
        /// The number of live nodes that may lead, the leader among them.
        live: usize,
        /// The smallest number that is enough.
        min: usize,
    },
    /// The leader is late with its renewal.
    LeaseNotRenewed {
        /// The leader.
        node: NodeId,
        /// How much of the lease is left.
        left_ms: u64,
        /// How long it lasts.
        lease_ms: u64,
    },
    /// The store's data went back to an older copy; takeovers wait.
    StoreWentBack {
        /// The line of history in which the lease was written.
        lease: u64,
        /// The store's now.
        store: u64,
    },
    /// The store answers slowly.
    StoreSlow {
        /// How long the slowest answer took.
        took_ms: u64,
        /// From where on that is slow: half of what a request may take.
        limit_ms: u64,
    },
    /// Leadership changes too often.
    Flapping {
        /// The number of changes.
        changes: u32,
        /// Time window in which leader changes are counted.
        window_ms: u64,
        /// The smallest number that is too many.
        limit: u32,
    },
    /// The leader has not published who is there.
    ViewBehind {
        /// The epoch of the last view.
        view: u64,
        /// The epoch of the lease.
        epoch: u64,
        /// How long the term has lasted.
        term_ms: u64,
        /// How long it had to publish one.
        limit_ms: u64,
    },
    /// A node missed a few beats.
    NodeLate {
        /// Which.
        node: NodeId,
        /// For how long it has been silent.
        silent_ms: u64,
        /// Time between two beats.
        beat_ms: u64,
    },
    /// A node is dropped from the view.
    NodeSilent {
        /// Which.
        node: NodeId,
        /// For how long it has been silent.
        silent_ms: u64,
        /// `worker_timeout`.
        limit_ms: u64,
    },
    /// A node is dead.
    NodeDead {
        /// Which.
        node: NodeId,
        /// For how long it has been silent.
        silent_ms: u64,
        /// `dead_node_timeout`.
        limit_ms: u64,
    },
    /// A node is registered, and the leader's view does not have it. Said where the store has
    /// no clock to tell by.
    NodeUnseen {
        /// Which.
        node: NodeId,
        /// The term whose view does not have it.
        epoch: u64,
    },
    /// A plugin of the leader's does not do its work.
    PluginFailing {
        /// Which.
        plugin: String,
        /// How often it has failed.
        failures: u64,
    },
}

impl Reason {
    /// How bad it is.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NoNode | Self::NoCandidate { .. } => Verdict::Critical,
            // Within its time an election is no more than that.
            Self::NoCoordinator { for_ms: Some(ms), limit_ms } if ms <= limit_ms => {
                Verdict::Degraded
            }
            Self::NoCoordinator { .. } => Verdict::Critical,
            // A beat that takes this long is given up.
            Self::StoreSlow { took_ms, limit_ms } if *took_ms > 2 * limit_ms => Verdict::Critical,
            _ => Verdict::Degraded,
        }
    }

    /// The name it is written under.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoNode => "no-node",
            Self::NoCoordinator { .. } => "no-coordinator",
            Self::NoCandidate { .. } => "no-candidate",
            Self::FewCandidates { .. } => "few-candidates",
            Self::LeaseNotRenewed { .. } => "lease-not-renewed",
            Self::StoreWentBack { .. } => "store-went-back",
            Self::StoreSlow { .. } => "store-slow",
            Self::Flapping { .. } => "flapping",
            Self::ViewBehind { .. } => "view-behind",
            Self::NodeLate { .. } => "node-late",
            Self::NodeSilent { .. } => "node-silent",
            Self::NodeDead { .. } => "node-dead",
            Self::NodeUnseen { .. } => "node-unseen",
            Self::PluginFailing { .. } => "plugin-failing",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode => f.write_str("no node is registered: start one"),
            Self::NoCoordinator { for_ms: None, .. } => f.write_str("no leader"),
            Self::NoCoordinator { for_ms: Some(ms), limit_ms } => {
                let word = if ms <= limit_ms { "an election may take" } else { "more than" };
                write!(f, "no leader for {}, {word} {}", span(*ms), span(*limit_ms))
            }
            Self::NoCandidate { registered } => {
                write!(f, "none of {registered} registered nodes is live and may lead: start one")
            }
            Self::FewCandidates { live: 1, min } => {
                write!(f, "only 1 eligible node is live, not {min}: no node could take over")
            }
            Self::FewCandidates { live, min } => {
                write!(f, "only {live} eligible nodes are live, fewer than {min}")
            }
            Self::LeaseNotRenewed { node, left_ms, lease_ms } => {
                let (left, lease) = (span(*left_ms), span(*lease_ms));
                write!(f, "the lease of {node} has {left} left of {lease}: ")?;
                f.write_str("two renewals are missing")
            }
            Self::StoreWentBack { lease, store } => {
                write!(
                    f,
                    "the store returned older data: its lineage is {store}, the lease's {lease}"
                )
            }
            Self::StoreSlow { took_ms, limit_ms } => {
                let (took, limit) = (span(*took_ms), span(*limit_ms));
                write!(f, "the store took {took} to answer, more than {limit}")
            }
            Self::Flapping { changes, window_ms, limit } => {
                let window = span(*window_ms);
                write!(f, "leadership changed {changes} times in {window}, limit {limit}")
            }
            Self::ViewBehind { view, epoch, term_ms, limit_ms } => {
                let (term, limit) = (span(*term_ms), span(*limit_ms));
                write!(f, "the view is of epoch {view}, though epoch {epoch} has lasted {term}, ")?;
                write!(f, "more than {limit}")
            }
            Self::NodeLate { node, silent_ms, beat_ms } => {
                let (silent, beat) = (span(*silent_ms), span(*beat_ms));
                let beats = Limits::BEATS_MISSED_MAX;
                write!(f, "node {node} has been silent for {silent}, ")?;
                write!(f, "more than heartbeat_interval {beat} × {beats}")
            }
            Self::NodeSilent { node, silent_ms, limit_ms } => {
                let (silent, limit) = (span(*silent_ms), span(*limit_ms));
                write!(f, "node {node} has been silent for {silent}, ")?;
                write!(f, "more than worker_timeout {limit}")
            }
            Self::NodeDead { node, silent_ms, limit_ms } => {
                let (silent, limit) = (span(*silent_ms), span(*limit_ms));
                write!(f, "node {node} is dead: silent for {silent}, ")?;
                write!(f, "more than dead_node_timeout {limit}")
            }
            Self::NodeUnseen { node, epoch } => {
                write!(f, "node {node} is registered, but not in the view of epoch {epoch}: ")?;
                f.write_str("it is silent, or new")
            }
            Self::PluginFailing { plugin, failures: 1 } => {
                write!(f, "plugin {plugin} has failed and does not work")
            }
            Self::PluginFailing { plugin, failures } => {
                write!(f, "plugin {plugin} has failed {failures} times and does not work")
            }
        }
    }
}

/// A length of time for a sentence: `850 ms`, `4.2 s`, `10 min`.
fn span(ms: u64) -> String {
    let in_units = |unit: u64, name: &str| match ms % unit {
        0 => format!("{} {name}", ms / unit),
        _ => format!("{}.{} {name}", ms / unit, ms % unit * 10 / unit),
    };
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => in_units(1_000, "s"),
        60_000..3_600_000 => in_units(60_000, "min"),
        _ => in_units(3_600_000, "h"),
    }
}
