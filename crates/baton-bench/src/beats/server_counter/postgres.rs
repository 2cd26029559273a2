//! PostgreSQL's transactions. A session tells its count at most once a second: nodes beat less
//! often than that, so that each beat is in the count at once.

use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::error::BenchError;

const ASK: &str = "SELECT xact_commit + xact_rollback FROM pg_stat_database
                   WHERE datname = current_database()";

/// A session that asks.
pub struct TransactionCounter {
    client: Client,
    asked: u64,
    /// Moves the session's bytes.
    _connection: JoinSet<Result<(), tokio_postgres::Error>>,
}

impl TransactionCounter {
    /// Connects.
    pub async fn at(url: &str) -> Result<Self, BenchError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let mut moving = JoinSet::new();
        moving.spawn(connection);
        Ok(Self { client, asked: 0, _connection: moving })
    }

    /// The transactions of other sessions so far.
    pub async fn count(&mut self) -> Result<u64, BenchError> {
        let row = self.client.query_one(ASK, &[]).await?;
        let counted = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
        let others = counted.saturating_sub(self.asked);
        self.asked += 1;
        Ok(others)
    }
}
