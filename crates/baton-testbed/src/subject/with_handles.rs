//! A fixture as a subject, whichever way its handles are had. Time is real.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};
use baton_store::conformance::{Subject, SuiteSettings};

use super::fixture::Fixture;
use super::names::Names;

/// How handles are opened, and what can be done to the processes that have them.
#[async_trait]
pub trait Handles: Send + Sync {
    /// A fresh handle on this URL, for a client in this time zone.
    async fn open(&self, url: String, zone: &str) -> Arc<dyn Store>;

    /// A namespace is asked for: a case begins if it goes by the name of one.
    fn namespace_requested(&self, label: &str);

    /// Kills the process that beat for this boot; `Ok(false)` if that cannot be arranged.
    async fn kill(&self, boot: BootId) -> Result<bool, String>;

    /// Steps the wall clock of all processes; `Ok(false)` if that cannot be arranged.
    fn step_wall(&self, minutes: i64) -> Result<bool, String>;
}

/// A fixture, with handles of one kind: [`InOneProcess`](super::InOneProcess) or
/// [`Processes`](super::Processes).
pub struct FixtureSubject<G, H> {
    pub(super) fixture: G,
    pub(super) handles: H,
    pub(super) settings: SuiteSettings,
    pub(super) names: Names,
}

impl<G: Fixture, H: Handles> FixtureSubject<G, H> {
    /// The fixture.
    pub fn fixture(&self) -> &G {
        &self.fixture
    }
}

#[async_trait]
impl<G: Fixture, H: Handles> Subject for FixtureSubject<G, H> {
    async fn open(&self) -> Arc<dyn Store> {
        self.handles.open(self.fixture.url(), "UTC").await
    }

    fn namespace(&self, label: &str) -> Namespace {
        self.handles.namespace_requested(label);
        self.names.next(label)
    }

    async fn pass(&self, span: Duration) {
        SystemClock.sleep(span).await;
    }

    fn settings(&self) -> SuiteSettings {
        self.settings
    }

    async fn restart(&self) -> Result<bool, String> {
        self.fixture.restart().await
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        self.fixture.keep_copy(namespace).await
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        self.fixture.restore_copy(namespace).await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.fixture.corrupt(namespace).await
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        let url = self.fixture.url_in_another_zone()?;
        Some(self.handles.open(url, "Etc/GMT-2").await)
    }

    async fn kill(&self, boot: BootId) -> Result<bool, String> {
        self.handles.kill(boot).await
    }

    async fn step_wall(&self, minutes: i64) -> Result<bool, String> {
        self.handles.step_wall(minutes)
    }
}
