//! Reading and writing pages: documents of the namespace.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::Failure;
use baton_core::schedule::page::{Page, PageError};
use baton_core::schedule::scheduler::PageWrite;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Precondition, Store, StoreError, WriteOutcome};

/// Why a page was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PagesError {
    /// The page is of no use to this version, or too large.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The page is no page.
    #[error("document {document} cannot be read ({problem})")]
    Unreadable {
        /// The document.
        document: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The store failed, or took too long.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The pages of a namespace.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    pub(super) store: Arc<dyn Store>,
    pub(super) namespace: Namespace,
    pub(super) timeout: Duration,
}

impl Pages {
    /// The page of this number, and the version of its document.
    pub(super) async fn read(&self, number: usize) -> Result<Option<(u64, Page)>, PagesError> {
        let document = Page::document(number);
        let found = self.in_time(self.store.read_document(&self.namespace, &document)).await?;
        let Some(found) = found else { return Ok(None) };
        let page: Page = serde_json::from_slice(&found.body).map_err(|problem| {
            let document = document.clone();
            PagesError::Unreadable { document, problem: problem.to_string() }
        })?;
        page.check_format(number)?;
        Ok(Some((found.version, page)))
    }

    /// Writes a page over this version, or where there is none if that is 0; under an epoch if one
    /// is given.
    pub(super) async fn write(
        &self,
        (number, version): (usize, u64),
        page: &Page,
        fence: Option<Epoch>,
    ) -> Result<PageWrite, PagesError> {
        let body = serde_json::to_vec(page).expect("plain data has a JSON form");
        Page::check_size(number, body.len())?;
        let precondition = match version {
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let document = Page::document(number);
        let (store, namespace) = (&self.store, &self.namespace);
        let writing = store.write_document(namespace, &document, body, precondition, fence);
        Ok(match self.in_time(writing).await {
            Ok(WriteOutcome::Written(version)) => PageWrite::Written(version),
            Ok(WriteOutcome::Conflict(_)) => PageWrite::Conflict,
            Ok(WriteOutcome::Fenced) => PageWrite::Fenced,
            Err(StoreError::Unknown { .. }) => PageWrite::Unknown,
            // A person must act, and has to be told.
            Err(problem) if fence.is_none() || problem.failure() == Failure::Rejected => {
                return Err(problem.into());
            }
            Err(_) => PageWrite::Failed,
        })
    }

    /// What takes longer than a request may is given up: what becomes of it is unknown.
    pub(super) async fn in_time<T>(
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
