//! What a node was told about partitions when it was built.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use baton_core::partition::TaskList;
use baton_core::partition::coordinator::MoveSettings;
use baton_store::Store;
use tokio::sync::{Notify, watch};

use super::documents::Documents;
use super::handler::{OwnedPartition, PartitionHandler};
use super::owner::StartedPartition;
use super::task_lists::TaskListError;
use crate::service::with_call_budget;
use crate::shared::Shared;

/// What of a node has to do with partitions.
#[derive(Default)]
pub(crate) struct PartitionSetup {
    /// The task lists that the service declares, in the order of their ids.
    pub(crate) lists: Vec<TaskList>,
    /// What is done with partitions; `None` on a node that owns none, but may lead.
    pub(crate) handler: Option<Arc<dyn PartitionHandler>>,
    /// Does this node coordinate although it declares no lists and owns no partitions?
    pub(crate) coordinates: bool,
    /// The handle on the store that partitions have of their own, if they have one.
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) moves: MoveSettings,
    /// Raised when a person may have changed the task lists.
    pub(super) edited: Notify,
    /// The task lists, as the leader's part last read them.
    pub(super) known_lists: watch::Sender<Arc<Vec<TaskList>>>,
    /// What this node owns.
    pub(super) owned: watch::Sender<Arc<Vec<OwnedPartition>>>,
    /// The last session of the owner, which a run of it that follows a failure must not have again.
    pub(super) last_session: AtomicU64,
    /// What a failed run of the owner had started.
    pub(super) leftovers: Mutex<Vec<StartedPartition>>,
    /// How many partitions have no owner, while this node leads.
    pub(super) unowned: AtomicUsize,
}

impl PartitionSetup {
    /// Has the node anything to do with partitions?
    pub(crate) fn is_used(&self) -> bool {
        self.handler.is_some() || !self.lists.is_empty() || self.coordinates
    }

    /// How many partitions this node owns; `None` if it has nothing to do with partitions.
    pub(crate) fn owned_count(&self) -> Option<usize> {
        self.is_used().then(|| self.owned.borrow().len())
    }

    /// How many partitions had no owner when this node last knew.
    pub(crate) fn unowned(&self) -> usize {
        self.unowned.load(Ordering::Relaxed)
    }

    /// Puts the lists in order, and refuses what is not within the limits.
    pub(crate) fn check(&mut self) -> Result<(), TaskListError> {
        self.lists.sort_by(|one, other| one.id.cmp(&other.id));
        let checked = TaskList::check_all(&self.lists);
        checked.map_err(|problem| TaskListError::Refused(problem.into()))
    }

    pub(super) fn documents(&self, shared: &Shared) -> Documents {
        let store = self.store.clone().unwrap_or_else(|| with_call_budget(&shared.records));
        let (namespace, timeout) = (shared.namespace.clone(), shared.settings.request_timeout);
        Documents { store, namespace, timeout }
    }
}
