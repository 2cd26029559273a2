//! The textbook lock: `SET key token NX PX`, a script that deletes the key only if the token is
//! ours, and waiters who ask again and again.

use std::time::Duration;

use async_trait::async_trait;
use baton_store::clock::{Clock, SystemClock};
use redis::Script;
use redis::aio::MultiplexedConnection;

use super::lock::{Lock, TTL};
use crate::error::BenchError;

/// How often a waiter asks.
const POLL_EVERY: Duration = Duration::from_millis(100);

const RENEW: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1]) end return 0";

/// A connection, the lock's key, and this holder's secret.
pub struct RedisLock {
    connection: MultiplexedConnection,
    key: String,
    token: String,
}

impl RedisLock {
    /// Opens a connection of its own.
    pub async fn connect(url: &str, key: String, token: String) -> Result<Self, BenchError> {
        let client = redis::Client::open(url)?;
        let connection = client.get_multiplexed_async_connection().await?;
        Ok(Self { connection, key, token })
    }
}

fn ttl_ms() -> u64 {
    u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX)
}

#[async_trait]
impl Lock for RedisLock {
    async fn acquire(&mut self) -> Result<(), BenchError> {
        loop {
            let mut set = redis::cmd("SET");
            set.arg(&self.key).arg(&self.token).arg("NX").arg("PX").arg(ttl_ms());
            let taken: Option<String> = set.query_async(&mut self.connection).await?;
            if taken.is_some() {
                return Ok(());
            }
            SystemClock.sleep(POLL_EVERY).await;
        }
    }

    async fn renew(&mut self) -> Result<(), BenchError> {
        let script = Script::new(RENEW);
        let mut call = script.key(&self.key);
        let call = call.arg(&self.token).arg(ttl_ms());
        let _: i64 = call.invoke_async(&mut self.connection).await?;
        Ok(())
    }

    async fn release(&mut self) -> Result<(), BenchError> {
        let script = Script::new(RELEASE);
        let _: i64 =
            script.key(&self.key).arg(&self.token).invoke_async(&mut self.connection).await?;
        Ok(())
    }
}
