//! What the server itself counts: a second count beside that of the proxy.
//!
//! ```text
//!   postgres  transactions of the database      pg_stat_database
//!   mysql     statements that clients sent      Questions
//!   redis     scripts that clients called       INFO commandstats
//!   etcd      calls of its interface            /metrics
//!   s3        MiniStack counts nothing          -
//! ```
//!
//! A counter asks over a connection of its own, and takes its own questions out.

mod etcd;
mod mysql;
mod postgres;
mod redis;

use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};

/// The server's counter.
pub enum ServerCounter {
    Postgres(postgres::TransactionCounter),
    Mysql(mysql::StatementCounter),
    Redis(redis::ScriptCounter),
    Etcd(etcd::CallCounter),
    /// A server that counts nothing.
    None,
}

impl ServerCounter {
    /// The counter of this fixture's server.
    pub async fn at(fixture: &Fixture) -> Result<Self, BenchError> {
        let Some(server) = fixture.server() else { return Ok(Self::None) };
        let url = server.url();
        Ok(match fixture.kind() {
            StoreKind::Postgres => Self::Postgres(postgres::TransactionCounter::at(&url).await?),
            StoreKind::Mysql => Self::Mysql(mysql::StatementCounter::at(&url).await?),
            StoreKind::Redis | StoreKind::RedisAlways => {
                Self::Redis(redis::ScriptCounter::at(&url).await?)
            }
            StoreKind::Etcd => Self::Etcd(etcd::CallCounter::at(server.address())),
            StoreKind::S3 | StoreKind::Sqlite => Self::None,
        })
    }

    /// What has been counted so far.
    pub async fn count(&mut self) -> Result<Option<u64>, BenchError> {
        Ok(match self {
            Self::Postgres(transactions) => Some(transactions.count().await?),
            Self::Mysql(questions) => Some(questions.count().await?),
            Self::Redis(scripts) => Some(scripts.count().await?),
            Self::Etcd(calls) => Some(calls.count().await?),
            Self::None => None,
        })
    }
}
