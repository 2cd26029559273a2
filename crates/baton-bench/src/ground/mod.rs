//! Where a bench's store is: files in a folder, or a server of the bench's own.
//!
//! ```text
//!   --store redis,s3 ──► kind ──► Ground ── one fresh server for the whole bench
//!                                   │ url(folder): what a cluster opens
//!                                   │   sqlite: a file in the cluster's folder
//!                                   │   others: the server; each cluster has its own namespace
//!                                   │ round_trips: counted by a proxy, if one was asked for
//!                                   └ cpu: the server's processor time
//! ```

mod kind;

use std::path::Path;
use std::time::Duration;

use baton_testbed::Server;
use baton_testbed::proxy::Proxy;

use crate::error::BenchError;
pub use kind::{Choice, StoreKind, chosen};

/// A store, and the server behind it.
pub struct Ground {
    kind: StoreKind,
    server: Option<Server>,
    proxy: Option<Proxy>,
}

impl Ground {
    /// Starts what the store needs.
    pub async fn new(kind: StoreKind) -> Result<Self, BenchError> {
        let server = match kind.server() {
            Some(server) => {
                eprintln!("{kind}: starting {}", server.name());
                Some(Server::start(server).await?)
            }
            None => None,
        };
        Ok(Self { kind, server, proxy: None })
    }

    /// The same, with somebody in between who counts.
    pub async fn counted(kind: StoreKind) -> Result<Self, BenchError> {
        let mut ground = Self::new(kind).await?;
        if let Some(server) = &ground.server {
            ground.proxy = Some(Proxy::to(server.address()).await);
        }
        Ok(ground)
    }

    /// Files, which need nothing.
    pub fn files() -> Self {
        Self { kind: StoreKind::Sqlite, server: None, proxy: None }
    }

    /// Which store it is.
    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// The server, unless the store is a file.
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// What those open whose folder this is.
    pub fn url(&self, folder: &Path) -> String {
        match (&self.server, &self.proxy) {
            (Some(server), Some(proxy)) => server.url_at(proxy.address()),
            (Some(server), None) => server.url(),
            (None, _) => format!("sqlite://{}", folder.join("baton.db").display()),
        }
    }

    /// How often a client has spoken, if somebody counts.
    pub fn round_trips(&self) -> Option<u64> {
        self.proxy.as_ref().map(|proxy| proxy.counts().round_trips)
    }

    /// The processor time the server has had, if it is ours to look at.
    pub fn cpu(&self) -> Option<Duration> {
        self.server.as_ref().and_then(|server| server.cpu().ok())
    }
}
