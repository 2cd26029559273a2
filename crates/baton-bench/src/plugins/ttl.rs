//! A million expired rows, and twenty nodes that beat at the same server.

use std::time::Duration;

use baton::plugins::ttl::Ttl;
use baton::{Namespace, Profile};
use baton_drivers::sweep::{self, Strategy, Table};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use super::{a_second, at_least};
use crate::beats::Fleet;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind};
use crate::percentiles::{Percentiles, ms};
use crate::report::{Report, TextTable};
use crate::sandbox::Sandbox;

/// How many nodes beat meanwhile, once a second each.
const NODES: u32 = 20;

/// How long they beat before anything is swept.
const CALM: Duration = Duration::from_secs(10);

/// Rows that must go each second.
const ROWS_A_SECOND: f64 = 50_000.0;

/// The longest that 99 of 100 beats may take meanwhile.
const BEAT_P99_MS: f64 = 100.0;

const FILL: &str = "
    CREATE TABLE {table} (id bigint PRIMARY KEY, owner text, expires_at timestamptz NOT NULL);
    INSERT INTO {table} SELECT n, 'owner ' || n, now() - interval '1 hour' + n * interval '1 ms'
        FROM generate_series(1, {rows}) n;
    CREATE INDEX ON {table} (expires_at);
    ANALYZE {table};
    CHECKPOINT;";

const HEAD: [&str; 6] = ["WHILE", "ROWS", "TOOK ms", "ROWS/S", "BEATS", "BEAT P99 ms"];

/// Sweeps one table with the plugin and one with a single statement.
pub async fn run(
    sandbox: &Sandbox,
    rows: u64,
    bars: bool,
    report: &mut Report,
) -> Result<(), BenchError> {
    let fixture = Fixture::new(StoreKind::Postgres).await?;
    let url = fixture.url(&sandbox.room("ttl")?);
    let user = UserSession::connect(&url).await?;
    eprintln!("ttl: filling two tables with {rows} rows each");
    for table in ["sessions", "peers"] {
        let fill = FILL.replace("{table}", table).replace("{rows}", &rows.to_string());
        user.client.batch_execute(&fill).await?;
    }
    let namespace = Namespace::new("ttl").expect("a plain name");
    let fast = |node: baton::NodeBuilder, _| node.profile(Profile::Fast);
    let fleet = Fleet::start(&url, &namespace, NODES, fast).await?;
    fleet.settle().await?;

    let mut table = TextTable::new("a backlog on postgres, 20 nodes that beat every second", &HEAD);
    fleet.forget_times();
    SystemClock.sleep(CALM).await;
    table.row(row("nothing else", None, &fleet.times_ms()));

    eprintln!("ttl: sweeping");
    let sweep = sweep::open(&url, Table::new("sessions"), Strategy::Delete);
    let sweep = sweep.map_err(|unfit| BenchError::Fence(unfit.to_string()))?;
    fleet.forget_times();
    let took = fleet.work_once(Ttl::new().sweep(sweep)).await?;
    let beats = fleet.times_ms();
    let p99 = Percentiles::of(&beats).map_or(f64::NAN, |spread| spread.p99);
    table.row(row("the plugin sweeps", Some((rows, took)), &beats));
    let left = user.count("sessions").await?;
    report.must("ttl: rows left", left == 0, left.to_string(), "0");
    let rate = a_second(rows, took);
    at_least(report, bars, "ttl: rows a second", rate, ROWS_A_SECOND);
    if bars {
        let found = format!("{p99:.1} ms");
        let wanted = format!("{BEAT_P99_MS} ms at most");
        report.must("ttl: 99 of 100 beats meanwhile", p99 <= BEAT_P99_MS, found, wanted);
    }

    eprintln!("ttl: one DELETE");
    fleet.forget_times();
    let before = SystemClock.now();
    user.client.batch_execute("DELETE FROM peers WHERE expires_at <= now()").await?;
    let took = ms(SystemClock.now().since(before));
    table.row(row("one DELETE", Some((rows, took)), &fleet.times_ms()));
    report.note(format!(
        "ttl: the plugin, fenced and in batches, removes {:.2} times as many rows a second as one \
         DELETE of all",
        rate / a_second(rows, took)
    ));
    report.table(table);
    fleet.leave().await;
    Ok(())
}

fn row(what: &str, swept: Option<(u64, f64)>, beats: &[f64]) -> Vec<String> {
    let dash = || "-".to_owned();
    let p99 = Percentiles::of(beats).map_or_else(dash, |spread| format!("{:.1}", spread.p99));
    let [rows, took, rate] = match swept {
        None => [dash(), dash(), dash()],
        Some((rows, took)) => {
            [rows.to_string(), format!("{took:.0}"), format!("{:.0}", a_second(rows, took))]
        }
    };
    vec![what.to_owned(), rows, took, rate, beats.len().to_string(), p99]
}

/// A session of the user's own.
struct UserSession {
    client: Client,
    /// Moves the session's bytes.
    _connection: JoinSet<Result<(), tokio_postgres::Error>>,
}

impl UserSession {
    async fn connect(url: &str) -> Result<Self, BenchError> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let mut moving = JoinSet::new();
        moving.spawn(connection);
        Ok(Self { client, _connection: moving })
    }

    async fn count(&self, table: &str) -> Result<i64, BenchError> {
        Ok(self.client.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await?.get(0))
    }
}
