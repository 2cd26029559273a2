//! The store as a subject in this process alone, by a clock that is moved by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_drivers::sqlite::SqliteStore;
use baton_store::Store;
use baton_store::clock::ManualClock;
use baton_store::conformance::{Subject, SuiteSettings};
use baton_testbed::subject::Fixture;

use crate::file::File;

/// Every handle is in this process, and so no boot can be killed alone.
pub struct ByHand {
    file: File,
    clock: Arc<ManualClock>,
    wall_ms: AtomicU64,
    namespaces: AtomicU64,
    settings: SuiteSettings,
}

impl ByHand {
    pub fn new(settings: SuiteSettings) -> Self {
        let clock = Arc::new(ManualClock::default());
        clock.advance(Duration::from_secs(1));
        let wall_ms = AtomicU64::new(1_700_000_000_000);
        clock.step_wall(wall_ms.load(Ordering::Relaxed));
        Self { file: File::new(), clock, wall_ms, namespaces: AtomicU64::new(0), settings }
    }
}

#[async_trait]
impl Subject for ByHand {
    async fn open(&self) -> Arc<dyn Store> {
        let store = SqliteStore::open_with_clock(self.file.config(), self.clock.clone());
        Arc::new(store.expect("the file can be opened"))
    }

    fn namespace(&self, label: &str) -> Namespace {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        crate::beats::namespace(&format!("{label}-{number}"))
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }

    fn settings(&self) -> SuiteSettings {
        self.settings
    }

    async fn restart(&self) -> Result<bool, String> {
        self.file.restart().await
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        Fixture::keep_copy(&self.file, namespace).await
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        Fixture::restore_copy(&self.file, namespace).await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        Fixture::corrupt(&self.file, namespace).await
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        None
    }

    async fn kill(&self, _boot: BootId) -> Result<bool, String> {
        Ok(false)
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        let stepped = self.wall_ms.load(Ordering::Relaxed).saturating_add_signed(minutes * 60_000);
        self.wall_ms.store(stepped, Ordering::Relaxed);
        self.clock.step_wall(stepped);
        Ok(true)
    }
}
