//! The task lists of a namespace, read and changed from any process.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Namespace, NodeId};
use baton_core::partition::{
    MoveRefused, Partition, TaskList, TaskListChange, TaskListId, TaskListRefused, TaskLists,
    check_move,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError, WriteOutcome};

use super::documents::Documents;
use super::setup::PartitionSetup;
use super::standing::PartitionStanding;
use crate::shared::Shared;

/// How often a change is made again when another one was faster.
const TRIES_MAX: u32 = 16;

/// The pause between two tries, in milliseconds, longer with each.
const PAUSE_MS: u64 = 3;

/// Why the task lists were not read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskListError {
    /// Not possible as the lists are.
    #[error(transparent)]
    Refused(#[from] TaskListRefused),
    /// The node cannot be given the partition.
    #[error(transparent)]
    NotThere(#[from] MoveRefused),
    /// An assignment document cannot be read.
    #[error("document {document} cannot be read ({problem})")]
    Assignment {
        /// The document.
        document: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The document cannot be read.
    #[error("document {} cannot be read ({problem})", TaskLists::DOCUMENT)]
    Unreadable {
        /// What is wrong with it.
        problem: String,
    },
    /// The store failed, or took too long.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Try again later.
    #[error("the task lists were not changed: other changes were faster {TRIES_MAX} times")]
    Contended,
}

/// The task lists of a namespace, for any process: it need not be a node.
#[derive(Clone)]
pub struct TaskListsClient {
    documents: Documents,
    /// What this process's own node has to do with partitions: it may be the leader.
    own: Option<Arc<PartitionSetup>>,
}

impl std::fmt::Debug for TaskListsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TaskListsClient").field(&self.documents).finish()
    }
}

impl TaskListsClient {
    /// The task lists of a namespace in this store. A request may take as long as given.
    pub fn new(store: Arc<dyn Store>, namespace: Namespace, timeout: Duration) -> Self {
        Self { documents: Documents { store, namespace, timeout }, own: None }
    }

    pub(super) fn of(node: &Shared) -> Self {
        let own = node.partitions.clone();
        Self { documents: own.documents(node), own: Some(own) }
    }

    /// The lists as they are now.
    pub async fn read(&self) -> Result<TaskLists, TaskListError> {
        Ok(self.documents.read_lists().await?.1)
    }

    /// Adds a list. This, and the others, give the lists as they are then.
    pub async fn add(&self, list: TaskList) -> Result<TaskLists, TaskListError> {
        let made = |lists: &TaskLists| lists.get(&list.id) == Some(&list);
        self.change(|lists| lists.add(list.clone()), made).await
    }

    /// Changes a list.
    pub async fn set(
        &self,
        id: &TaskListId,
        change: TaskListChange,
    ) -> Result<TaskLists, TaskListError> {
        // To make the change once more changes nothing.
        self.change(|lists| lists.set(id, change.clone()), |_| false).await
    }

    /// Takes a list out.
    pub async fn remove(&self, id: &TaskListId) -> Result<TaskLists, TaskListError> {
        let made = |lists: &TaskLists| lists.get(id).is_none();
        self.change(|lists| lists.remove(id).map(drop), made).await
    }

    /// Moves a partition to a node by hand. It stays there for as long as the node takes
    /// partitions, until the move is forgotten. Refused if the node could not be given the
    /// partition now.
    pub async fn move_partition(
        &self,
        partition: &Partition,
        to: &NodeId,
    ) -> Result<TaskLists, TaskListError> {
        let standing = PartitionStanding::of(&self.documents).await?;
        standing.lists.clone().move_partition(partition.clone(), to.clone())?;
        check_move(&standing.problem(&standing.lists.wanted()), partition, to)?;
        let made = |lists: &TaskLists| lists.moved().get(partition) == Some(to);
        self.change(|lists| lists.move_partition(partition.clone(), to.clone()), made).await
    }

    /// Forgets a move by hand: the partition goes wherever the shares of the nodes say.
    pub async fn forget_move(&self, partition: &Partition) -> Result<TaskLists, TaskListError> {
        let made = |lists: &TaskLists| !lists.moved().contains_key(partition);
        self.change(|lists| lists.forget_move(partition).map(drop), made).await
    }

    /// Pauses voluntary moves: those that make the nodes' loads even, and those back to a node that
    /// has returned. Partitions without an owner still get one, draining nodes still give theirs
    /// away, and what people move by hand is moved.
    pub async fn pause_moves(&self) -> Result<TaskLists, TaskListError> {
        self.set_paused(true).await
    }

    /// Lets voluntary moves go on.
    pub async fn resume_moves(&self) -> Result<TaskLists, TaskListError> {
        self.set_paused(false).await
    }

    async fn set_paused(&self, is_paused: bool) -> Result<TaskLists, TaskListError> {
        let set = |lists: &mut TaskLists| {
            lists.set_paused(is_paused);
            Ok(())
        };
        self.change(set, |lists| lists.is_paused() == is_paused).await
    }

    /// Changes the document. A change without an answer is read back before it is made again:
    /// `is_made` says whether it stands there.
    async fn change(
        &self,
        mut edit: impl FnMut(&mut TaskLists) -> Result<(), TaskListRefused>,
        is_made: impl Fn(&TaskLists) -> bool,
    ) -> Result<TaskLists, TaskListError> {
        let mut is_unanswered = false;
        for tried in 1..=TRIES_MAX {
            let (version, mut lists) = self.documents.read_lists().await?;
            if is_unanswered && is_made(&lists) {
                return Ok(lists);
            }
            edit(&mut lists)?;
            match self.documents.write_lists(version, &lists, None).await {
                Ok(WriteOutcome::Written(_)) => {
                    self.own.iter().for_each(|own| own.edited.notify_one());
                    self.documents.hint_leader().await;
                    return Ok(lists);
                }
                Ok(WriteOutcome::Conflict(_) | WriteOutcome::Fenced) => {}
                Err(StoreError::Unknown { .. }) => is_unanswered = true,
                Err(problem) => return Err(problem.into()),
            }
            SystemClock.sleep(Duration::from_millis(PAUSE_MS * u64::from(tried))).await;
        }
        Err(TaskListError::Contended)
    }
}
