//! The number as a row of a user's own table, with the driver's fence in the write's transaction.

use baton::Epoch;
use baton_drivers::postgres::fence::{Fence, FenceError};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::error::BenchError;

const MAKE: &str = "CREATE TABLE IF NOT EXISTS bench_number (name text PRIMARY KEY, value bigint)";
const SET: &str = "INSERT INTO bench_number VALUES ($1, $2)
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
const GET: &str = "SELECT value FROM bench_number WHERE name = $1";

/// A session of the user's own.
pub struct Table {
    client: Client,
    name: String,
    fence: Fence,
    /// Moves the session's bytes.
    _connection: JoinSet<Result<(), tokio_postgres::Error>>,
}

impl Table {
    /// Connects.
    pub async fn open(url: &str, name: &str) -> Result<Self, BenchError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let mut moving = JoinSet::new();
        moving.spawn(connection);
        let (name, fence) = (name.to_owned(), Fence::new(name));
        Ok(Self { client, name, fence, _connection: moving })
    }

    /// The table, and 0 in it.
    pub async fn make(&mut self) -> Result<(), BenchError> {
        self.client.batch_execute(MAKE).await?;
        self.write(0).await
    }

    /// What it is.
    pub async fn read(&mut self) -> Result<u64, BenchError> {
        let row = self.client.query_one(GET, &[&self.name]).await?;
        Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or_default())
    }

    /// Writes it.
    pub async fn write(&mut self, value: u64) -> Result<(), BenchError> {
        self.client.execute(SET, &[&self.name, &stored(value)]).await?;
        Ok(())
    }

    /// Raises the fence, and writes the value if there is one, in one transaction.
    pub async fn fenced(&mut self, value: Option<u64>, epoch: Epoch) -> Result<bool, BenchError> {
        let transaction = self.client.transaction().await?;
        match self.fence.admit(&transaction, epoch).await {
            Ok(()) => {}
            Err(FenceError::StaleEpoch(_)) => return Ok(false),
            Err(problem) => return Err(BenchError::Fence(problem.to_string())),
        }
        if let Some(value) = value {
            transaction.execute(SET, &[&self.name, &stored(value)]).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

fn stored(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
