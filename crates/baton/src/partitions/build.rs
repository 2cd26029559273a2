//! What a node is told about partitions when it is built.

use std::sync::Arc;

use baton_core::partition::TaskList;
use baton_core::partition::coordinator::MoveSettings;
use baton_store::Store;

use super::handler::PartitionHandler;
use crate::builder::NodeBuilder;

impl NodeBuilder {
    /// What this node does with the partitions that it is given. Without this it owns none.
    pub fn partitions(mut self, handler: impl PartitionHandler) -> Self {
        self.partitions.handler = Some(Arc::new(handler));
        self
    }

    /// Declares a task list, whose partitions are spread over the nodes that take partitions. The
    /// lists that the leader's service declares are applied, and those that it declares no longer
    /// are removed; a leader that declares none leaves them alone. Every node that may lead
    /// declares the same lists, also one that owns no partitions. What is wrong with a list is
    /// refused by [`build`](Self::build).
    pub fn task_list(mut self, list: TaskList) -> Self {
        self.partitions.lists.push(list);
        self
    }

    /// This node coordinates partitions while it leads, although it declares no task lists and owns
    /// no partitions itself. Nodes that do either coordinate anyway.
    pub fn coordinate_partitions(mut self) -> Self {
        self.partitions.coordinates = true;
        self
    }

    /// How partitions are moved while this node leads.
    pub fn partition_moves(mut self, moves: MoveSettings) -> Self {
        self.partitions.moves = moves;
        self
    }

    /// Another handle on the node's store for partitions, so that they and the beats do not share a
    /// connection.
    pub fn partition_store(mut self, store: Arc<dyn Store>) -> Self {
        self.partitions.store = Some(store);
        self
    }
}
