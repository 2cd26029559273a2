//! Where a test counts: a server of its own, or a file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use baton::Store;
use baton_testbed::{Kind, Server};

/// A store, and a folder beside it.
pub struct Fixture {
    folder: tempfile::TempDir,
    server: Option<Server>,
}

impl Fixture {
    /// A file.
    pub fn file() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a writable folder");
        Self { folder, server: None }
    }

    /// A server.
    pub async fn server(kind: Kind) -> Self {
        let server = Server::start(kind).await.expect("it can be started here");
        Self { server: Some(server), ..Self::file() }
    }

    /// How often each task adds. On S3 every append writes one object whole, and eight processes
    /// compete for it.
    pub fn rounds(&self) -> u64 {
        let is_s3 = self.server.as_ref().is_some_and(|server| server.kind() == Kind::Ministack);
        if is_s3 { 60 } else { 500 }
    }

    /// A file of the test's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite://{}", self.path("baton.db").display()),
        }
    }

    /// The same through a proxy at this address. A file has no proxy in between.
    pub fn url_at(&self, address: SocketAddr) -> String {
        self.server.as_ref().map_or_else(|| self.url(), |server| server.url_at(address))
    }

    /// Where the server listens, if there is one.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.as_ref().map(Server::address)
    }

    pub async fn open(&self) -> Arc<dyn Store> {
        baton_drivers::open(&self.url()).await.expect("it can be opened")
    }
}
