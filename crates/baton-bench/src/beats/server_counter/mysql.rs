//! MySQL's count of statements that clients sent; what a procedure does inside is not among them.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::error::BenchError;

/// A connection that asks.
pub struct StatementCounter {
    connection: Conn,
    asked: u64,
}

impl StatementCounter {
    /// Connects.
    pub async fn at(url: &str) -> Result<Self, BenchError> {
        Ok(Self { connection: Conn::from_url(url).await?, asked: 0 })
    }

    /// All but its own; the one that asks is counted already.
    pub async fn count(&mut self) -> Result<u64, BenchError> {
        self.asked += 1;
        let ask = "SHOW GLOBAL STATUS LIKE 'Questions'";
        let row: Option<(String, u64)> = self.connection.query_first(ask).await?;
        Ok(row.map_or(0, |(_, counted)| counted.saturating_sub(self.asked)))
    }
}
