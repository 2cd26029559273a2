//! The ground without processes: quick, but nobody can be killed and no clock stepped.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};
use baton_store::Store;
use baton_store::clock::{Clock, SystemClock};
use baton_store::conformance::{Pace, Subject};

use super::ground::Ground;
use super::names::Names;
use crate::peer::Open;

/// Every handle is in this process. Time is real.
pub struct InOneProcess<G> {
    ground: G,
    open: Open,
    pace: Pace,
    names: Names,
}

impl<G: Ground> InOneProcess<G> {
    /// The subject on this ground.
    pub fn new(ground: G, open: Open, pace: Pace) -> Self {
        Self { ground, open, pace, names: Names::new() }
    }

    /// The ground.
    pub fn ground(&self) -> &G {
        &self.ground
    }

    async fn open_url(&self, url: &str) -> Arc<dyn Store> {
        (self.open)(url).await.expect("the server answers")
    }
}

#[async_trait]
impl<G: Ground> Subject for InOneProcess<G> {
    async fn open(&self) -> Arc<dyn Store> {
        self.open_url(&self.ground.url()).await
    }

    fn namespace(&self, label: &str) -> Namespace {
        self.names.next(label)
    }

    async fn pass(&self, span: Duration) {
        SystemClock.sleep(span).await;
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    async fn restart(&self) -> Result<bool, String> {
        self.ground.restart().await
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        self.ground.keep_copy(namespace).await
    }

    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        self.ground.restore_copy(namespace).await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.ground.corrupt(namespace).await
    }

    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>> {
        let url = self.ground.url_in_another_zone()?;
        Some(self.open_url(&url).await)
    }

    async fn kill(&self, _boot: BootId) -> Result<bool, String> {
        Ok(false)
    }

    async fn step_wall(&self, _minutes: i64) -> Result<bool, String> {
        Ok(false)
    }
}
