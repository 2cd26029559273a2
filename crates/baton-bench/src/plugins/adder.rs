//! A process that adds as fast as it can, from many tasks, each waiting for its own addition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton::Namespace;
use baton::plugins::counters::Counters;
use baton_cli::output::stdout;
use baton_store::clock::{Clock, SystemClock};
use redis::Cmd;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use super::counters::COUNTER;
use crate::cli::Adder;
use crate::error::BenchError;
use crate::fixture::StoreKind;

/// How many additions of a process are under way at once, as in a service with this many requests.
const TASKS: u64 = 128;

const MAKE: &str = "CREATE TABLE IF NOT EXISTS bench_visits (name text PRIMARY KEY, value bigint)";
const BEGIN: &str = "INSERT INTO bench_visits VALUES ($1, 0) ON CONFLICT DO NOTHING";
const RAISE: &str = "UPDATE bench_visits SET value = value + 1 WHERE name = $1";

/// What it says at its end, by the clock that all processes read alike.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AdditionTimes {
    /// When its first addition began.
    pub began_us: u64,
    /// When its last was durable.
    pub ended_us: u64,
}

/// Adds, and prints on stdout when the additions began and ended.
pub async fn add(options: &Adder) -> Result<(), BenchError> {
    let times = match (options.directly, options.kind) {
        (false, _) => count(options).await?,
        (true, StoreKind::Redis) => raise_key(options).await?,
        (true, _) => raise_row(options).await?,
    };
    stdout::line(&serde_json::to_string(&times).expect("plain numbers"));
    Ok(())
}

async fn count(options: &Adder) -> Result<AdditionTimes, BenchError> {
    let namespace = Namespace::new(&options.namespace).expect("the bench gives a plain name");
    let store = baton_drivers::open(&options.url).await?;
    let counters = Counters::new(store, namespace);
    in_tasks(options.additions, move || {
        let counters = counters.clone();
        async move {
            let added = counters.add(COUNTER, 1).await;
            added.map_err(|problem| BenchError::Fence(problem.to_string()))
        }
    })
    .await
}

async fn raise_key(options: &Adder) -> Result<AdditionTimes, BenchError> {
    let client = redis::Client::open(options.url.as_str())?;
    let connection = client.get_multiplexed_async_connection().await?;
    in_tasks(options.additions, move || {
        let mut connection = connection.clone();
        async move { Ok(Cmd::incr(COUNTER, 1).query_async(&mut connection).await?) }
    })
    .await
}

async fn raise_row(options: &Adder) -> Result<AdditionTimes, BenchError> {
    let (client, connection) = tokio_postgres::connect(&options.url, NoTls).await?;
    let mut moving = JoinSet::new();
    moving.spawn(connection);
    // All processes make it at once; one of them does.
    let _ = client.batch_execute(MAKE).await;
    client.execute(BEGIN, &[&COUNTER]).await?;
    let raise = client.prepare(RAISE).await?;
    let client = Arc::new(client);
    in_tasks(options.additions, move || {
        let (client, raise) = (client.clone(), raise.clone());
        async move {
            client.execute(&raise, &[&COUNTER]).await?;
            Ok(())
        }
    })
    .await
}

/// Makes this many additions, many at a time.
async fn in_tasks<F, Work>(additions: u64, addition: F) -> Result<AdditionTimes, BenchError>
where
    F: Fn() -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), BenchError>> + Send,
{
    let (addition, begun) = (Arc::new(addition), Arc::new(AtomicU64::new(0)));
    let began_us = SystemClock.now().as_micros();
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (addition, begun) = (addition.clone(), begun.clone());
        tasks.spawn(async move {
            while begun.fetch_add(1, Ordering::Relaxed) < additions {
                addition().await?;
            }
            Ok::<(), BenchError>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(AdditionTimes { began_us, ended_us: SystemClock.now().as_micros() })
}
