//! Partitions of a service, spread over its nodes, each with one owner at a time.
//!
//! ```text
//!   leader:     coordinate ── documents ──► store ── view ──► every node: owner of its partitions
//!                   ▲                                              │ on_assigned, on_release
//!                   └───────── reports, with the beats ────────────┘       ▼
//!   any process: task_lists, by compare-and-set                    handler: the application
//!                router: who owns what
//!                standing: lists, nodes and owners, for a dry run and a move by hand
//! ```
//!
//! What is decided, and why that is safe, is in [`baton_core::partition`]; here it is carried out.
//! Requests for partitions have a handle on the store, or a share of its calls, of their own, so
//! that no beat waits behind them.

mod alone;
mod build;
mod coordinate;
mod documents;
mod handler;
mod owner;
mod router;
mod setup;
mod standing;
mod task;
mod task_lists;

use std::sync::Arc;

use tokio::sync::watch;

pub use baton_core::partition::coordinator::MoveSettings;
pub use baton_core::partition::{
    InvalidPartition, InvalidTaskList, MoveRefused, PARTITIONS_MAX, Partition, TaskList,
    TaskListChange, TaskListId, TaskListRefused, TaskListStatus, TaskLists, Token, Wanted,
};
pub use documents::PartitionsError;
pub use handler::{OwnedPartition, PartitionHandler};
pub use router::{PartitionMap, PartitionOwnership, PartitionRouter};
pub(crate) use setup::PartitionSetup;
pub use standing::PartitionStanding;
pub use task::partition_task;
pub use task_lists::{TaskListError, TaskListsClient};

use crate::error::BuildError;
use crate::node::Node;
use crate::plugin::PluginSet;

/// The partitions of a node.
#[derive(Clone)]
pub struct NodePartitions(Arc<PartitionSetup>);

impl NodePartitions {
    /// What this node owns now, in order.
    pub fn owned(&self) -> Vec<OwnedPartition> {
        self.0.owned.borrow().to_vec()
    }

    /// What this node owns, again whenever that changes.
    pub fn watch(&self) -> watch::Receiver<Arc<Vec<OwnedPartition>>> {
        self.0.owned.subscribe()
    }
}

impl std::fmt::Debug for NodePartitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NodePartitions").field(&self.owned()).finish()
    }
}

impl Node {
    /// The task lists of the namespace, as they stand in the store.
    pub fn task_lists(&self) -> TaskListsClient {
        TaskListsClient::of(&self.shared)
    }

    /// The partitions that this node owns.
    pub fn partitions(&self) -> NodePartitions {
        NodePartitions(self.shared.partitions.clone())
    }
}

/// Checks what a node was told about partitions, and adds what coordinates and owns them to a node
/// that has to do with them.
pub(crate) fn host(
    plugins: &PluginSet,
    mut setup: PartitionSetup,
) -> Result<Arc<PartitionSetup>, BuildError> {
    setup.check()?;
    let setup = Arc::new(setup);
    if setup.is_used() {
        plugins.add(Arc::new(coordinate::PartitionsPlugin(setup.clone())))?;
        plugins.add_service(Arc::new(owner::PartitionOwner(setup.clone())))?;
    }
    Ok(setup)
}
