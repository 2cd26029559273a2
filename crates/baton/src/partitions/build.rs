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
    /// are removed. Every node that may lead declares them, also one that owns no partitions. What
    /// is wrong with a list is refused by [`build`](Self::build).
    pub fn task_list(mut self, list: TaskList) -> Self {
        self.partitions.lists.push(list);
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
