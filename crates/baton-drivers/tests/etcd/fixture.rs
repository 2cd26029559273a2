//! An etcd of our own, and what the conformance suite has done to it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::subject::Fixture;
use baton_testbed::{Kind, Server};

use crate::raw_client::{Pair, RawClient};

pub async fn open(url: &str) -> Arc<dyn Store> {
    baton_drivers::open(url).await.expect("the server answers")
}

pub struct Etcd {
    pub server: Server,
    kept: Mutex<Vec<Pair>>,
}

impl Etcd {
    pub async fn start() -> Self {
        let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
        Self { server, kept: Mutex::default() }
    }

    pub fn client(&self) -> RawClient {
        RawClient::on(self.server.address())
    }
}

/// Where a namespace begins.
pub fn space(namespace: &Namespace) -> String {
    format!("baton/{namespace}/")
}

#[async_trait]
impl Fixture for Etcd {
    fn url(&self) -> String {
        self.server.url()
    }

    /// A session has no time zone here; its process has one.
    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.server.url())
    }

    async fn restart(&self) -> Result<bool, String> {
        self.server.kill().await.map_err(|error| error.to_string())?;
        self.server.start_again().await.map_err(|error| error.to_string())?;
        Ok(true)
    }

    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String> {
        let found = self.client().under(&space(namespace)).await;
        *self.kept.lock().expect("no holder panics") = found;
        Ok(true)
    }

    /// Key by key, as an operator without a snapshot would do it.
    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String> {
        let kept = self.kept.lock().expect("no holder panics").clone();
        let client = self.client();
        client.clear(&space(namespace)).await;
        for (key, value) in kept {
            client.put(&key, value).await;
        }
        Ok(())
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.client().put(&format!("{}lead/lease", space(namespace)), "rubbish").await;
        Ok(true)
    }
}
