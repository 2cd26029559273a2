//! The task lists of a namespace, read and changed from any process.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::partition::{TaskList, TaskListChange, TaskListId, TaskListRefused, TaskLists};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError, WriteOutcome};

use super::documents::Documents;
use super::setup::PartitionSetup;
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
