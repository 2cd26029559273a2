//! What a node was told about partitions when it was built.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use baton_core::ids::Epoch;
use baton_core::partition::TaskList;
use baton_core::partition::coordinator::MoveSettings;
use baton_store::Store;
use tokio::sync::{Notify, watch};

use super::documents::Documents;
use super::handler::{OwnedPartition, PartitionHandler};
use super::owner::StartedPartition;
use super::task_lists::TaskListError;
use crate::plugin::PluginError;
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
    /// The last term in which this node coordinated partitions.
    last_term: Mutex<Epoch>,
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

    /// A coordinator begins: the only one of its term. Another would give tokens out again, and
    /// know nothing of the write that the first may have under way.
    pub(super) fn begin_term(&self, epoch: Epoch) -> Result<(), PluginError> {
        let mut last = self.last_term.lock().expect("no holder panics");
        if *last == epoch {
            let problem = "the coordinator of partitions of this term has ended; the next one \
                           needs a new term, because a write may still be under way";
            return Err(problem.into());
        }
        *last = epoch;
        Ok(())
    }

    pub(super) fn documents(&self, shared: &Shared) -> Documents {
        let store = self.store.clone().unwrap_or_else(|| with_call_budget(&shared.records));
        let (namespace, timeout) = (shared.namespace.clone(), shared.settings.request_timeout);
        Documents { store, namespace, timeout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_has_one_coordinator() {
        let setup = PartitionSetup::default();
        assert!(setup.begin_term(Epoch(4)).is_ok());
        let again = setup.begin_term(Epoch(4)).expect_err("tokens would be given out again");
        assert!(again.to_string().contains("needs a new term"), "{again}");
        assert!(setup.begin_term(Epoch(5)).is_ok());
    }
}
