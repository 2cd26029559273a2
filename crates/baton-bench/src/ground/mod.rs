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

use baton_testbed::proxy::Proxy;
use baton_testbed::{Options, Server};

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
            Some(server) => Some(Self::start(kind, server).await?),
            None => None,
        };
        Ok(Self { kind, server, proxy: None })
    }

    /// A server as this kind of store needs it.
    async fn start(kind: StoreKind, server: baton_testbed::Kind) -> Result<Server, BenchError> {
        eprintln!("{kind}: starting {}", server.name());
        let arguments = kind.arguments().iter().copied().map(str::to_owned).collect();
        let options = Options { arguments, ..Options::default() };
        Ok(Server::start_with(server, options).await?)
    }

    /// A second server like the first.
    pub async fn another_server(&self) -> Result<Option<Server>, BenchError> {
        match self.kind.server() {
            Some(server) => Self::start(self.kind, server).await.map(Some),
            None => Ok(None),
        }
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
        if let Some(url) = self.proxy.as_ref().and_then(|proxy| self.url_through(proxy)) {
            return url;
        }
        match &self.server {
            Some(server) => format!("{}{}", server.url(), self.kind.query()),
            None => format!("sqlite://{}", folder.join("baton.db").display()),
        }
    }

    /// What those open who go this way to the server.
    pub fn url_through(&self, proxy: &Proxy) -> Option<String> {
        let server = self.server.as_ref()?;
        Some(format!("{}{}", server.url_at(proxy.address()), self.kind.query()))
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
