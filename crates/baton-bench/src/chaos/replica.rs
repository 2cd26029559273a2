//! A replica of the server's: it is promoted, and the server comes back behind it.
//!
//! ```text
//!                        nodes stay               nodes go where the data is written
//!   at first     nodes ──► server ──► replica     nodes ──► server ──► replica
//!   promoted     nodes ──► server     replica     nodes ──► replica ──► server
//!   and back     server ◄── replica, and is promoted again: what it wrote meanwhile is lost
//! ```

use std::net::SocketAddr;

use baton::Namespace;
use baton_cli::attempts::Attempts;
use baton_core::protocol::TermRecord;
use baton_testbed::Server;

use super::outcome::{ASK_EVERY, PATIENCE, TERMS_MAX};
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};

/// A server and its replica.
pub struct Replica<'a> {
    server: &'a Server,
    replica: Server,
    query: &'static str,
    namespace: Namespace,
    /// Terms that a server had granted when it took over the other one's data.
    pub lost: Vec<TermRecord>,
}

impl<'a> Replica<'a> {
    /// Starts one that follows the server, if the store is of a kind that has replicas here.
    pub async fn start(
        fixture: &'a Fixture,
        namespace: &Namespace,
    ) -> Result<Option<Self>, BenchError> {
        let kind = fixture.kind();
        let server = fixture.server().filter(|_| has_replicas(kind));
        let Some(server) = server else { return Ok(None) };
        let Some(replica) = fixture.another_server().await? else { return Ok(None) };
        let namespace = namespace.clone();
        let two = Self { server, replica, query: kind.query(), namespace, lost: vec![] };
        follow(&two.replica, two.server).await?;
        Ok(Some(two))
    }

    /// Promotes it, and says where nodes go from now on; `None` if it is not in step, and nothing
    /// was done. With `nodes_go` they go to it, and the server follows it.
    pub async fn promote(&mut self, nodes_go: bool) -> Result<Option<SocketAddr>, BenchError> {
        if !is_in_step(&self.replica).await? {
            return Ok(None);
        }
        promote(&self.replica).await?;
        if nodes_go {
            self.lost.extend(self.overwrite(self.server, &self.replica).await?);
        }
        Ok(Some(if nodes_go { self.replica.address() } else { self.server.address() }))
    }

    /// The server takes over what the replica has, and no more, and is promoted again. Says where
    /// nodes go from now on.
    pub async fn back(&mut self) -> Result<SocketAddr, BenchError> {
        if !info(self.server).await?.contains("role:slave") {
            self.lost.extend(self.overwrite(self.server, &self.replica).await?);
        }
        let mut attempts = Attempts::new(ASK_EVERY, PATIENCE);
        while !is_in_step(self.server).await? && attempts.next().await {}
        promote(self.server).await?;
        self.lost.extend(self.overwrite(&self.replica, self.server).await?);
        Ok(self.server.address())
    }

    /// Lets one server follow the other. Says which terms it had granted.
    async fn overwrite(&self, server: &Server, by: &Server) -> Result<Vec<TermRecord>, BenchError> {
        // No write is taken while the terms are read.
        config(server, "9").await?;
        let store = baton_drivers::open(&format!("{}{}", server.url(), self.query)).await;
        let terms = store?.history(&self.namespace, TERMS_MAX).await?;
        follow(server, by).await?;
        config(server, "0").await?;
        Ok(terms)
    }
}

/// Has this kind of store replicas that a bench can make?
pub fn has_replicas(kind: StoreKind) -> bool {
    matches!(kind, StoreKind::Redis | StoreKind::RedisAlways)
}

async fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> Result<T, BenchError> {
    let client = redis::Client::open(server.url())?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let mut command = redis::cmd(words[0]);
    Ok(command.arg(&words[1..]).query_async(&mut connection).await?)
}

async fn follow(server: &Server, other: &Server) -> Result<(), BenchError> {
    let (host, port) = (other.address().ip().to_string(), other.address().port().to_string());
    ask(server, &["REPLICAOF", &host, &port]).await
}

async fn promote(server: &Server) -> Result<(), BenchError> {
    ask(server, &["REPLICAOF", "NO", "ONE"]).await
}

async fn config(server: &Server, replicas: &str) -> Result<(), BenchError> {
    ask(server, &["CONFIG", "SET", "min-replicas-to-write", replicas]).await
}

async fn info(server: &Server) -> Result<String, BenchError> {
    ask(server, &["INFO", "replication"]).await
}

async fn is_in_step(server: &Server) -> Result<bool, BenchError> {
    Ok(info(server).await?.contains("master_link_status:up"))
}
