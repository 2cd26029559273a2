//! What the server itself counts: a second witness beside the proxy.
//!
//! ```text
//!   postgres  transactions of the database      pg_stat_database
//!   mysql     statements that clients sent      Questions
//!   redis     scripts that clients called       INFO commandstats
//!   etcd      calls of its interface            /metrics
//!   s3        MiniStack counts nothing          -
//! ```
//!
//! A witness asks over a connection of its own, and takes its own questions out.

mod etcd;
mod mysql;
mod postgres;
mod redis;

use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};

/// The server's counter.
pub enum Witness {
    Postgres(postgres::Transactions),
    Mysql(mysql::Questions),
    Redis(redis::Scripts),
    Etcd(etcd::Calls),
    /// Nothing counts.
    None,
}

impl Witness {
    /// The counter of this fixture's server.
    pub async fn at(fixture: &Fixture) -> Result<Self, BenchError> {
        let Some(server) = fixture.server() else { return Ok(Self::None) };
        let url = server.url();
        Ok(match fixture.kind() {
            StoreKind::Postgres => Self::Postgres(postgres::Transactions::at(&url).await?),
            StoreKind::Mysql => Self::Mysql(mysql::Questions::at(&url).await?),
            StoreKind::Redis | StoreKind::RedisAlways => {
                Self::Redis(redis::Scripts::at(&url).await?)
            }
            StoreKind::Etcd => Self::Etcd(etcd::Calls::at(server.address())),
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
