//! The store as a subject in this process alone: by a clock that is moved by hand, or by the
//! machine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};
use baton_store::conformance::{Pace, Subject};

use crate::clock::FileClock;
use crate::file::File;

/// Every handle is in this process, and so no boot can be killed alone.
pub struct OneProcess {
    file: File,
    by_hand: Option<Arc<FileClock>>,
    namespaces: AtomicU64,
    pace: Pace,
}

impl OneProcess {
    /// Time passes when the suite says so.
    pub fn by_hand(pace: Pace) -> Self {
        let file = File::new();
        let by_hand = Some(Arc::new(FileClock::create(&file.folder().join("clock"))));
        Self { file, by_hand, namespaces: AtomicU64::new(0), pace }
    }

    /// Time passes.
    pub fn by_the_machine(pace: Pace) -> Self {
        Self { file: File::new(), by_hand: None, namespaces: AtomicU64::new(0), pace }
    }
}

#[async_trait]
impl Subject for OneProcess {
    async fn open(&self) -> Arc<dyn Store> {
        let clock: Arc<dyn Clock> = match &self.by_hand {
            Some(clock) => Arc::clone(clock) as Arc<dyn Clock>,
            None => Arc::new(SystemClock),
        };
        let store = SqliteStore::open_with_clock(self.file.config(), clock);
        Arc::new(store.expect("the file can be opened"))
    }

    fn namespace(&self, label: &str) -> Namespace {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        crate::beats::namespace(&format!("{label}-{number}"))
    }

    async fn pass(&self, span: Duration) {
        match &self.by_hand {
            Some(clock) => clock.advance(span),
            None => SystemClock.sleep(span).await,
        }
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    /// There is no server; what a handle keeps in memory goes when the last one is dropped.
    async fn restart(&self) -> Result<bool, String> {
        self.file.sql("PRAGMA wal_checkpoint(TRUNCATE)").map(|()| true)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        self.file.keep_copy().map(|()| true)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        self.file.restore_copy()
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.file.corrupt(namespace).map(|()| true)
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        None
    }

    async fn kill(&self, _boot: BootId) -> Result<bool, String> {
        Ok(false)
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        if let Some(clock) = &self.by_hand {
            clock.step_wall(minutes);
        }
        Ok(self.by_hand.is_some())
    }
}
