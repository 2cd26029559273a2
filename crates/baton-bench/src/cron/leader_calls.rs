//! A store whose calls for pages of schedules are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton::{Namespace, Store, StoreError};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call};

/// What the names of these documents begin with.
const PAGES: &str = "baton:schedules:";

/// Calls for pages, and the bytes of those that were written. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct PageCalls(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    writes: AtomicU64,
    bytes: AtomicU64,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageCounts {
    /// Calls that read or write a page.
    pub calls: u64,
    /// Calls that write one.
    pub writes: u64,
    /// The bytes of what they write.
    pub bytes: u64,
}

impl PageCounts {
    /// What came since.
    pub fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            writes: self.writes.saturating_sub(before.writes),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl PageCalls {
    /// Counts the calls of this store too.
    pub fn of(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Wrapped::new(store, self.clone()))
    }

    /// The counts so far.
    pub fn read(&self) -> PageCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { calls, writes, bytes } = &*self.0;
        PageCounts { calls: of(calls), writes: of(writes), bytes: of(bytes) }
    }
}

#[async_trait]
impl Layer for PageCalls {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        match &call {
            Call::ReadDocuments { names } if names.iter().any(|name| name.starts_with(PAGES)) => {
                self.0.calls.fetch_add(1, Ordering::Relaxed);
            }
            Call::WriteDocuments { writes, .. } => {
                let pages = writes.iter().filter(|write| write.name.starts_with(PAGES));
                let bytes: usize = pages.clone().map(|page| page.body.len()).sum();
                let is_of_pages = u64::from(pages.count() > 0);
                self.0.calls.fetch_add(is_of_pages, Ordering::Relaxed);
                self.0.writes.fetch_add(is_of_pages, Ordering::Relaxed);
                self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            _ => {}
        }
        inner.call(namespace, call).await
    }
}
