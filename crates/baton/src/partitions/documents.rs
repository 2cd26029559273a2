//! Reading and writing assignment documents and the task lists.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Namespace};
use baton_core::partition::coordinator::{BatchOutcome, DocumentWrite};
use baton_core::partition::{Assignment, TaskLists};
use baton_core::protocol::{Failure, Member, View};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, Store, StoreError, WriteOutcome};

use super::owner::TOPIC;
use super::task_lists::TaskListError;
use crate::lifeline;

/// Why documents of partitions were not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionsError {
    /// A document is none of this version.
    #[error("document {document} cannot be read ({problem})")]
    Unreadable {
        /// The document.
        document: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The task lists cannot be read, or what the service declares does not fit them.
    #[error(transparent)]
    Lists(#[from] TaskListError),
    /// The store failed, or took too long.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The documents of partitions of a namespace.
#[derive(Clone, Debug)]
pub(super) struct Documents {
    pub(super) store: Arc<dyn Store>,
    pub(super) namespace: Namespace,
    pub(super) timeout: Duration,
}

/// A document that was found: its version and what it says.
pub(super) type Found = Option<(u64, Assignment)>;

impl Documents {
    /// The documents of these slots, in the order in which they are named.
    pub(super) async fn read(&self, slots: &[u32]) -> Result<Vec<Found>, PartitionsError> {
        let names: Vec<String> = slots.iter().map(|slot| Assignment::document(*slot)).collect();
        let reading = self.store.read_documents(&self.namespace, names);
        let found = self.in_time(reading).await?;
        let read = |(slot, found): (&u32, Option<baton_store::Document>)| {
            let Some(found) = found else { return Ok(None) };
            let content = serde_json::from_slice(&found.body).map_err(|problem| {
                let document = Assignment::document(*slot);
                PartitionsError::Unreadable { document, problem: problem.to_string() }
            })?;
            Ok(Some((found.version, content)))
        };
        slots.iter().zip(found).map(read).collect()
    }

    /// Tells the leader that the task lists were changed. Without this it looks some time later.
    pub(super) async fn hint_leader(&self) {
        let look = self.in_time(self.store.inspect(&self.namespace)).await;
        lifeline::hint_leader(look, &self.namespace, TOPIC).await;
    }

    /// The published view.
    pub(super) async fn view(&self) -> Result<Option<Arc<View>>, StoreError> {
        Ok(self.in_time(self.store.inspect(&self.namespace)).await?.view)
    }

    /// The node records.
    pub(super) async fn members(&self) -> Result<Vec<Member>, StoreError> {
        self.in_time(self.store.members(&self.namespace)).await
    }

    /// Writes documents, all or none, under the epoch of a term.
    pub(super) async fn write(
        &self,
        writes: Vec<DocumentWrite>,
        fence: Epoch,
    ) -> Result<BatchOutcome, PartitionsError> {
        let write = |write: DocumentWrite| baton_store::DocumentWrite {
            name: Assignment::document(write.slot),
            body: serde_json::to_vec(&write.content).expect("plain data has a JSON form"),
            precondition: over(write.over),
        };
        let writes = writes.into_iter().map(write).collect();
        let writing = self.store.write_documents(&self.namespace, writes, Some(fence));
        match self.in_time(writing).await {
            Ok(baton_store::BatchOutcome::Written(versions)) => Ok(BatchOutcome::Written(versions)),
            Ok(baton_store::BatchOutcome::Conflict { .. }) => Ok(BatchOutcome::Conflict),
            Ok(baton_store::BatchOutcome::Fenced) => Ok(BatchOutcome::Fenced),
            Err(StoreError::Unknown { .. }) => Ok(BatchOutcome::Unknown),
            // A person must act, and has to be told.
            Err(problem) if problem.failure() == Failure::Rejected => Err(problem.into()),
            Err(_) => Ok(BatchOutcome::Failed),
        }
    }

    /// The task lists, and the version of their document.
    pub(super) async fn read_lists(&self) -> Result<(u64, TaskLists), TaskListError> {
        let reading = self.store.read_document(&self.namespace, TaskLists::DOCUMENT);
        let Some(found) = self.in_time(reading).await? else {
            return Ok((0, TaskLists::default()));
        };
        let lists: TaskLists = serde_json::from_slice(&found.body)
            .map_err(|problem| TaskListError::Unreadable { problem: problem.to_string() })?;
        lists.check_format()?;
        Ok((found.version, lists))
    }

    /// Writes the task lists over this version, under an epoch if one is given.
    pub(super) async fn write_lists(
        &self,
        version: u64,
        lists: &TaskLists,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let body = serde_json::to_vec(lists).expect("plain data has a JSON form");
        let (store, document) = (&self.store, TaskLists::DOCUMENT);
        let writing = store.write_document(&self.namespace, document, body, over(version), fence);
        self.in_time(writing).await
    }

    /// What takes longer than a request may is given up: what becomes of it is unknown.
    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        tokio::select! {
            biased;
            answer = call => answer,
            () = SystemClock.sleep(self.timeout) => {
                let detail = "the store did not answer in time".to_owned();
                Err(StoreError::Unknown { detail })
            }
        }
    }
}

/// A write over this version, or where there is none if that is 0.
fn over(version: u64) -> Precondition {
    match version {
        0 => Precondition::Absent,
        version => Precondition::Version(version),
    }
}
