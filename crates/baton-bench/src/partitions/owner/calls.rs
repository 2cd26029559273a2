//! A store whose calls are counted, by what they are for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton::{Namespace, Store, StoreError};
use baton_core::protocol::Request;
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call};
use serde::{Deserialize, Serialize};

/// The calls of a process. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct CallCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: AtomicU64,
    beats: AtomicU64,
    members: AtomicU64,
    views: AtomicU64,
    document_reads: AtomicU64,
    document_writes: AtomicU64,
    documents: AtomicU64,
}

/// The calls up to one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTotals {
    /// All of them.
    pub all: u64,
    /// Beats and looks.
    pub beats: u64,
    /// Readings of the records.
    pub members: u64,
    /// Views that were published.
    pub views: u64,
    /// Readings of documents.
    pub document_reads: u64,
    /// Writes of documents.
    pub document_writes: u64,
    /// The documents that they wrote.
    pub documents: u64,
}

impl CallTotals {
    /// Each of these less the other's, added up.
    pub fn add_since(&mut self, before: &Self, after: &Self) {
        let add = |to: &mut u64, before: u64, after: u64| *to += after.saturating_sub(before);
        add(&mut self.all, before.all, after.all);
        add(&mut self.beats, before.beats, after.beats);
        add(&mut self.members, before.members, after.members);
        add(&mut self.views, before.views, after.views);
        add(&mut self.document_reads, before.document_reads, after.document_reads);
        add(&mut self.document_writes, before.document_writes, after.document_writes);
        add(&mut self.documents, before.documents, after.documents);
    }
}

impl CallCounts {
    /// Counts the calls of this store too.
    pub fn of(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Wrapped::new(store, self.clone()))
    }

    /// The calls so far.
    pub fn read(&self) -> CallTotals {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &*self.0;
        CallTotals {
            all: of(&counts.all),
            beats: of(&counts.beats),
            members: of(&counts.members),
            views: of(&counts.views),
            document_reads: of(&counts.document_reads),
            document_writes: of(&counts.document_writes),
            documents: of(&counts.documents),
        }
    }

    fn add(&self, call: &Call) {
        let counts = &*self.0;
        let one = |count: &AtomicU64| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        one(&counts.all);
        match call {
            Call::Core(Request::Beat(_)) => one(&counts.beats),
            Call::Core(Request::ReadMembers) => one(&counts.members),
            Call::Core(Request::PublishView { .. }) => one(&counts.views),
            Call::ReadDocuments { .. } => one(&counts.document_reads),
            Call::WriteDocuments { writes, .. } => {
                one(&counts.document_writes);
                counts.documents.fetch_add(writes.len() as u64, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

#[async_trait]
impl Layer for CallCounts {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        self.add(&call);
        inner.call(namespace, call).await
    }
}
