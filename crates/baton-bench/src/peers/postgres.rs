//! PostgreSQL's advisory lock: it ends with its session, and the server wakes the next one itself.

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use super::lock::Lock;
use crate::error::BenchError;

/// A session, and the number of its lock.
pub struct PostgresLock {
    client: Client,
    key: i64,
    /// Moves the session's bytes.
    _connection: JoinSet<Result<(), tokio_postgres::Error>>,
}

impl PostgresLock {
    /// Opens a session of its own.
    pub async fn connect(url: &str, key: i64) -> Result<Self, BenchError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let mut moving = JoinSet::new();
        moving.spawn(connection);
        Ok(Self { client, key, _connection: moving })
    }
}

#[async_trait]
impl Lock for PostgresLock {
    async fn acquire(&mut self) -> Result<(), BenchError> {
        self.client.execute("SELECT pg_advisory_lock($1)", &[&self.key]).await?;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), BenchError> {
        Ok(())
    }

    async fn release(&mut self) -> Result<(), BenchError> {
        self.client.execute("SELECT pg_advisory_unlock($1)", &[&self.key]).await?;
        Ok(())
    }
}
