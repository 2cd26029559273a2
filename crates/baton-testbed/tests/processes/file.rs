//! A database file as a ground.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::subject::Ground;
use tempfile::TempDir;

/// A file in a folder of its own.
pub struct File(TempDir);

impl File {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self(folder.expect("the build has a folder for tests"))
    }
}

/// Opens what the URL names.
pub fn open(url: &str) -> Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, String>> + Send>> {
    let opened = baton_drivers::open(url).map_err(|error| error.to_string());
    Box::pin(async move { opened })
}

#[async_trait]
impl Ground for File {
    fn url(&self) -> String {
        format!("sqlite://{}", self.0.path().join("baton.db").display())
    }

    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.url())
    }

    async fn restart(&self) -> Result<bool, String> {
        Ok(false)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        Ok(false)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        unreachable!("no copy was kept")
    }

    async fn corrupt(&self, _namespace: &Namespace) -> Result<bool, String> {
        Ok(false)
    }
}
