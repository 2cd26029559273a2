//! A process that waits for a lock, ticks while it has it, and gives it up when it is told to end.

use std::pin::pin;
use std::process::Command;

use baton_cli::cluster::tick_along;
use baton_store::clock::{Clock, SystemClock};
use tokio::signal::unix::{SignalKind, signal};

use super::lock::{Lock, RENEW_EVERY};
use super::postgres::PostgresLock;
use super::redis::RedisLock;
use super::zookeeper::ZookeeperLock;
use crate::cli::{Hold, HoldKind};
use crate::error::BenchError;
use crate::failover::TICK_EVERY;
use crate::processes::this_program;

/// The command line of such a process, which may go on.
pub fn command(lock: &str, key: i64, url: &str) -> Result<Command, BenchError> {
    let mut command = Command::new(this_program()?);
    command.args(["hold", lock, &key.to_string()]).env("BATON_STORE", url);
    Ok(command)
}

/// Holds until SIGTERM.
pub async fn hold(options: &Hold) -> Result<(), BenchError> {
    let no_signals = |problem| BenchError::File { path: "signals".into(), problem };
    let mut terminated = signal(SignalKind::terminate()).map_err(no_signals)?;
    let node = format!("waiter-{}", options.epoch);
    let mut lock = connect(options, &node).await?;
    lock.acquire().await?;
    let mut ticking = pin!(tick_along(&options.log, TICK_EVERY, options.epoch, &node));
    loop {
        tokio::select! {
            ended = &mut ticking => return Ok(ended?),
            _ = terminated.recv() => break,
            () = SystemClock.sleep(RENEW_EVERY) => lock.renew().await?,
        }
    }
    lock.release().await
}

async fn connect(options: &Hold, node: &str) -> Result<Box<dyn Lock>, BenchError> {
    let Hold { store, key, .. } = options;
    Ok(match options.lock {
        HoldKind::Advisory => Box::new(PostgresLock::connect(store, *key).await?),
        HoldKind::Zookeeper => {
            Box::new(ZookeeperLock::connect(store, format!("/lock-{key}")).await?)
        }
        HoldKind::Textbook => {
            let token = format!("{node}-{}", std::process::id());
            Box::new(RedisLock::connect(store, format!("lock-{key}"), token).await?)
        }
    })
}
