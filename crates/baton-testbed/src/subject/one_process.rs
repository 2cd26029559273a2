//! The fixture without processes: quick, but no process can be killed and no clock stepped.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::BootId;
use baton_store::Store;
use baton_store::conformance::SuiteSettings;

use super::fixture::Fixture;
use super::names::Names;
use super::with_handles::{FixtureSubject, Handles};

/// Every handle is in this process. Time is real.
pub type InOneProcess<G> = FixtureSubject<G, LocalHandles>;

/// Opens handles in this process.
pub struct LocalHandles;

impl<G: Fixture> FixtureSubject<G, LocalHandles> {
    /// The subject on this fixture.
    pub fn new(fixture: G, settings: SuiteSettings) -> Self {
        Self { fixture, handles: LocalHandles, settings, names: Names::new() }
    }
}

#[async_trait]
impl Handles for LocalHandles {
    /// The session's time zone is in the URL; this process has only one.
    async fn open(&self, url: String, _zone: &str) -> Arc<dyn Store> {
        baton_drivers::open(&url).await.expect("the server answers")
    }

    fn namespace_requested(&self, _label: &str) {}

    async fn kill(&self, _boot: BootId) -> Result<bool, String> {
        Ok(false)
    }

    fn step_wall(&self, _minutes: i64) -> Result<bool, String> {
        Ok(false)
    }
}
