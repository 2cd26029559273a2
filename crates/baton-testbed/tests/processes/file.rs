//! A database file as a fixture.

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_testbed::subject::Fixture;
use tempfile::TempDir;

/// A file in a folder of its own.
pub struct File(TempDir);

impl File {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self(folder.expect("the build has a folder for tests"))
    }
}

#[async_trait]
impl Fixture for File {
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
