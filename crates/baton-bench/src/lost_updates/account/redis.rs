//! The number as a key of the user's own, with the driver's fence in the script of the write.

use baton::Epoch;
use baton_drivers::redis::fence::{Fence, FenceError};
use redis::Cmd;
use redis::aio::MultiplexedConnection;

use crate::error::BenchError;

/// A connection of the user's own.
pub struct Key {
    connection: MultiplexedConnection,
    key: String,
    fence: Fence,
}

impl Key {
    /// Connects.
    pub async fn open(url: &str, name: &str) -> Result<Self, BenchError> {
        let client = redis::Client::open(url)?;
        let connection = client.get_multiplexed_async_connection().await?;
        Ok(Self { connection, key: format!("number:{{{name}}}"), fence: Fence::new(name) })
    }

    /// What it is.
    pub async fn read(&mut self) -> Result<u64, BenchError> {
        let value: Option<u64> = Cmd::get(&self.key).query_async(&mut self.connection).await?;
        Ok(value.unwrap_or_default())
    }

    /// Writes it.
    pub async fn write(&mut self, value: u64) -> Result<(), BenchError> {
        Ok(Cmd::set(&self.key, value).query_async(&mut self.connection).await?)
    }

    /// Raises the fence, and writes the value if there is one, in one script.
    pub async fn fenced(&mut self, value: Option<u64>, epoch: Epoch) -> Result<bool, BenchError> {
        let writes: Vec<Cmd> = value.map(|value| Cmd::set(&self.key, value)).into_iter().collect();
        let (keys, connection) = ([self.key.as_str()], &mut self.connection);
        match self.fence.write(connection, epoch, &keys, &writes).await {
            Ok(_) => Ok(true),
            Err(FenceError::StaleEpoch(_)) => Ok(false),
            Err(problem) => Err(BenchError::Fence(problem.to_string())),
        }
    }
}
