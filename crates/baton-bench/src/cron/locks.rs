//! What it takes without baton: three replicas that all have the schedules, and an advisory lock of
//! PostgreSQL for each fire. The replica that gets the lock runs the work and unlocks.

use std::sync::Arc;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls, Statement};

use super::fires::{Fire, FireFigures, FireLog, SECOND_MS};
use crate::cli::Cron;
use crate::error::BenchError;
use crate::fixture::Fixture;

const REPLICAS: u64 = 3;

/// From when replicas are connected until slots count.
const STARTS_AFTER_MS: u64 = 2 * SECOND_MS;

/// A replica: one connection, over which the locks of all schedules are asked for at once.
struct Replica {
    client: Client,
    lock: Statement,
    unlock: Statement,
    log: FireLog,
    number: u64,
}

/// Runs all schedules on all replicas, and says what was started.
pub async fn run(fixture: &Fixture, options: &Cron) -> Result<FireFigures, BenchError> {
    let Some(server) = fixture.server() else {
        return Ok(FireFigures::of(&[], 0, (0, 0)));
    };
    let (log, mut moving, mut replicas) = (FireLog::default(), JoinSet::new(), JoinSet::new());
    let mut connected = Vec::new();
    for number in 1..=REPLICAS {
        let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await?;
        moving.spawn(connection);
        let lock = client.prepare("SELECT pg_try_advisory_lock($1)").await?;
        let unlock = client.prepare("SELECT pg_advisory_unlock($1)").await?;
        connected.push(Arc::new(Replica { client, lock, unlock, log: log.clone(), number }));
    }
    let from_ms = (SystemClock.wall_ms() + STARTS_AFTER_MS).next_multiple_of(SECOND_MS);
    let to_ms = from_ms + u64::from(options.seconds) * SECOND_MS;
    for replica in connected {
        let schedules = options.schedules;
        replicas.spawn(async move {
            for slot_ms in (from_ms..to_ms).step_by(SECOND_MS as usize) {
                replica.fire_all(schedules, slot_ms).await?;
            }
            Ok::<(), BenchError>(())
        });
    }
    while let Some(ended) = replicas.join_next().await {
        ended??;
    }
    Ok(FireFigures::of(&log.take(), options.schedules, (from_ms, to_ms)))
}

impl Replica {
    /// Waits for the slot, and tries each schedule once.
    async fn fire_all(self: &Arc<Self>, schedules: u32, slot_ms: u64) -> Result<(), BenchError> {
        let left_ms = slot_ms.saturating_sub(SystemClock.wall_ms());
        SystemClock.sleep(Duration::from_millis(left_ms)).await;
        let mut fires = JoinSet::new();
        for schedule in 0..schedules {
            let replica = self.clone();
            fires.spawn(async move { replica.fire(schedule, slot_ms).await });
        }
        while let Some(ended) = fires.join_next().await {
            ended??;
        }
        Ok(())
    }

    async fn fire(&self, schedule: u32, slot_ms: u64) -> Result<(), BenchError> {
        let key = i64::from(schedule);
        if !self.client.query_one(&self.lock, &[&key]).await?.get::<_, bool>(0) {
            return Ok(());
        }
        let started_ms = SystemClock.wall_ms();
        self.log.push(Fire { schedule, slot_ms, attempt: 1, epoch: self.number, started_ms });
        self.client.query_one(&self.unlock, &[&key]).await?;
        Ok(())
    }
}
