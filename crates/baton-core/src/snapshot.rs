//! What other threads may know of a node. The thread that owns the core publishes one after each
//! input that changed it; the reader compares its moments with the clock.

use std::sync::Arc;
use std::time::Duration;

use crate::guard::breaker::BreakerStatus;
use crate::guard::fence::EpochFence;
use crate::ids::{Lineage, NodeId};
use crate::metrics::{LeaderlessTime, Metrics, MetricsReport};
use crate::partition::PartitionReport;
use crate::protocol::View;
use crate::time::Moment;

/// What a node knew after its last input. What is large in it is shared, not copied.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The node's name.
    pub node: NodeId,
    /// Does the store know this process by its node's id?
    pub is_registered: bool,
    /// Does work of a term go on although its hard deadline has passed?
    pub is_overrunning: bool,
    /// Which line of history the store's data belongs to, once that is known.
    pub lineage: Option<Lineage>,
    /// When the last beat was sent that is known to have written what this node says of its
    /// partitions. Beats that may wait, and looks, write nothing.
    pub written_at: Option<Moment>,
    /// How much time passed that the local clock did not count, since this node takes partitions.
    pub clock_leapt: Duration,
    /// What this node says of its partitions, as the store has it.
    pub written_report: Option<Arc<PartitionReport>>,
    /// The last view.
    pub view: Option<Arc<View>>,
    /// The state of the breaker in front of the store.
    pub breaker: BreakerStatus,
    /// Which tasks' epochs are accepted, as far as the store has shown epochs.
    pub fence: EpochFence,
    pub(crate) leads_until: Option<Moment>,
    pub(crate) holder: Option<(NodeId, Moment)>,
    pub(crate) metrics: Metrics,
    pub(crate) leaderless: LeaderlessTime,
}

impl Snapshot {
    /// Which node leads at `now`, as far as this node knows.
    pub fn leader(&self, now: Moment) -> Option<&NodeId> {
        if self.leads_until.is_some_and(|until| now < until) {
            return Some(&self.node);
        }
        self.holder.as_ref().filter(|(_, until)| now < *until).map(|(holder, _)| holder)
    }

    /// The live nodes, as the last view has them.
    pub fn active_workers(&self) -> impl Iterator<Item = &NodeId> {
        self.view.iter().flat_map(|view| view.members.iter().map(|member| &member.id))
    }

    /// Counts, and percentiles of the last beats.
    pub fn metrics(&self) -> MetricsReport {
        self.metrics.report()
    }

    /// How long, since its start, this node has known of no leader. A term that has not begun
    /// its work, or that is told to stop, coordinates nothing.
    pub fn leaderless(&self, now: Moment) -> Duration {
        self.leaderless.at(now)
    }

    /// The same without the node's own term: its thread broke, and nothing of the term may act.
    #[must_use]
    pub fn without_term(&self) -> Self {
        Self { leads_until: None, ..self.clone() }
    }
}
