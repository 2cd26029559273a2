//! Expired rows of the user's own tables.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_drivers::sweep::{self, Strategy, Table, Unit};
use baton_store::sweep::{Sweep, SweepError};
use baton_testbed::expiry::{self, Records};
use baton_testbed::tables::{self, Tables};
use baton_testbed::wait::{soon, until};
use baton_testbed::{ConnectionFault, Proxy};
use mysql_async::prelude::Queryable;

use crate::fixture::MysqlFixture;

/// A table of the user's, and how its column counts.
struct Things<'a> {
    fixture: &'a MysqlFixture,
    name: &'static str,
    unit: Unit,
    /// A moment of `{ms}` in its column.
    moment: &'static str,
}

const DATETIME: (&str, &str) =
    ("DATETIME(3)", "TIMESTAMPADD(MICROSECOND, {ms} * 1000, '1970-01-01 00:00:00')");

impl<'a> Things<'a> {
    async fn make(
        fixture: &'a MysqlFixture,
        name: &'static str,
        (column, moment): (&'static str, &'static str),
        unit: Unit,
    ) -> Self {
        fixture.sql(&format!("DROP TABLE IF EXISTS {name}")).await;
        let sql = format!(
            "CREATE TABLE {name} (a INT, b VARCHAR(9), until {column} NULL, name VARCHAR(9), \
             gone {column} NULL, PRIMARY KEY (a, b), KEY (until))"
        );
        fixture.sql(&sql).await;
        Self { fixture, name, unit, moment }
    }

    fn table(&self) -> Table {
        Table::new(self.name).key(["a", "b"]).expires("until").unit(self.unit)
    }

    fn sweep(&self, strategy: Strategy) -> Arc<dyn Sweep> {
        let url = self.fixture.server.url();
        sweep::open(&url, self.table(), strategy).expect("the names are plain")
    }
}

#[async_trait]
impl Records for Things<'_> {
    async fn now_ms(&self) -> i64 {
        let sql = "SELECT CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) \
                   DIV 1000 AS CHAR)";
        let now = self.fixture.value(sql).await.expect("it tells the time");
        now.parse().expect("it is a number")
    }

    async fn put(&self, expiries: &BTreeMap<u32, i64>) {
        let rows = expiries.iter().map(|(id, at)| {
            format!("({id}, 'k', {}, 'x')", self.moment.replace("{ms}", &at.to_string()))
        });
        let sql = format!(
            "INSERT INTO {} (a, b, until, name) VALUES {} \
             ON DUPLICATE KEY UPDATE until = VALUES(until)",
            self.name,
            rows.collect::<Vec<_>>().join(", ")
        );
        let mut conn = self.fixture.connect().await;
        conn.query_drop("SET time_zone = '+00:00'").await.expect("it can be set");
        conn.query_drop(sql).await.expect("the table is ours");
    }

    async fn left(&self) -> Vec<u32> {
        let rows = self.fixture.sql(&format!("SELECT a FROM {} ORDER BY a", self.name)).await;
        rows.iter().map(|row| row.get(0).expect("it is a number")).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_expired_goes_and_nothing_goes_early() {
    let fixture = MysqlFixture::start().await;
    // A session's own zone has no part in it.
    fixture.sql("SET GLOBAL time_zone = '+05:45'").await;
    let stamp = ("TIMESTAMP(3)", "FROM_UNIXTIME({ms} / 1000)");
    let seconds = ("DECIMAL(20, 3)", "{ms} / 1000");
    let all = [
        Things::make(&fixture, "plain", DATETIME, Unit::Timestamp).await,
        Things::make(&fixture, "stamped", stamp, Unit::Timestamp).await,
        Things::make(&fixture, "seconds", seconds, Unit::UnixSeconds).await,
        Things::make(&fixture, "millis", ("BIGINT", "{ms}"), Unit::UnixMillis).await,
    ];
    for things in all {
        let sweep = things.sweep(Strategy::Delete);
        expiry::none_early_and_none_left(&things, &*sweep).await;
        assert_eq!(things.left().await.len(), 2, "those that are not due for long");
    }
    fixture.sql("SET GLOBAL time_zone = 'SYSTEM'").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_bounded_updates_count_and_epochs_fence() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "bounded", DATETIME, Unit::Timestamp).await;
    let sweep = things.sweep(Strategy::Delete);
    expiry::a_backlog_goes_in_bounded_batches(&things, &*sweep).await;
    expiry::an_update_saves_a_record(&things, &*sweep).await;
    fixture.sql("DELETE FROM bounded").await;
    expiry::a_later_epoch_ends_it(&things, &*sweep).await;
    // The connection is cut: the next batch makes another.
    fixture.sql("INSERT INTO bounded (a, b, until) VALUES (1, 'x', '2020-01-01')").await;
    let cut = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
               WHERE id <> CONNECTION_ID() AND command = 'Sleep'";
    for row in fixture.sql(cut).await {
        let id: String = row.get(0).expect("it has an id");
        fixture.try_sql(&format!("KILL {id}")).await;
    }
    until("a connection anew", async || sweep.batch(Epoch(9), 10).await.ok()).await;
    assert_eq!(things.left().await, Vec::<u32>::new());
}

/// Another session changes a row while a batch runs. The batch passes over the row, which is not
/// due any more after that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_is_under_way_saves_its_row() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "updated", DATETIME, Unit::Timestamp).await;
    let put = "INSERT INTO updated (a, b, until) VALUES (1, 'x', '2020-01-01'), \
               (2, 'x', '2020-01-01'), (3, 'x', '2020-01-01')";
    fixture.sql(put).await;
    let mut user = fixture.connect().await;
    user.query_drop("START TRANSACTION").await.expect("it is sound");
    let change = "UPDATE updated SET until = '2999-01-01' WHERE a = 2 AND b = 'x'";
    user.query_drop(change).await.expect("no other session does");
    let sweep = things.sweep(Strategy::Delete);
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 2);
    user.query_drop("COMMIT").await.expect("no other session does");
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 0);
    assert_eq!(things.left().await, [2]);
}

#[async_trait]
impl Tables for MysqlFixture {
    fn url(&self) -> String {
        self.server.url()
    }

    async fn run(&self, sql: &str) {
        self.sql(sql).await;
    }

    async fn ask(&self, sql: &str) -> Vec<String> {
        let rows = self.sql(sql).await;
        rows.iter().map(|row| row.get(0).expect("it can be text")).collect()
    }

    async fn drop_index(&self, index: &str, table: &str) {
        self.sql(&format!("DROP INDEX {index} ON {table}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_swept_as_every_table_is() {
    let fixture = MysqlFixture::start().await;
    assert_eq!(tables::all(&fixture).await, tables::CASES);
}

/// A moment is the server's own where it is written, and text in UTC where it is handed over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moments_are_marked_and_handed_over_in_utc() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "marked", DATETIME, Unit::Timestamp).await;
    fixture.sql("INSERT INTO marked VALUES (1, 'k', '2020-01-02', 'a', NULL)").await;
    let soft = things.sweep(Strategy::soft_delete("gone"));
    assert_eq!(soft.batch(Epoch(1), 100).await.expect("it is there").records, 1);
    let fresh = "SELECT CAST(a AS CHAR) FROM marked \
                 WHERE gone BETWEEN UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE AND UTC_TIMESTAMP(6)";
    assert_eq!(fixture.value(fresh).await.as_deref(), Some("1"));
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&told);
    let callback = Strategy::callback(move |rows| {
        keep.lock().expect("no holder panics").extend(rows);
        std::future::ready(Ok(()))
    });
    assert_eq!(things.sweep(callback).batch(Epoch(1), 9).await.expect("it went well").records, 1);
    let told = told.lock().expect("no holder panics").clone();
    assert_eq!(told[0]["until"], "2020-01-02 00:00:00.000000");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_swept_is_told_in_one_line() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "named", DATETIME, Unit::Timestamp).await;
    let aged = things.table().created("name", Duration::from_secs(1));
    let cases = [
        (Table::new("baton.thinks"), Strategy::Delete, "there is no table baton.thinks"),
        (Table::new("named").key(["a"]), Strategy::Delete, "named has no column expires_at"),
        (aged, Strategy::Delete, "column name of table named is of type varchar; a timestamp"),
        (things.table().unit(Unit::UnixMillis), Strategy::Delete, "whole numbers are needed"),
        (things.table(), Strategy::soft_delete("name"), "column name of table named is of type"),
    ];
    for (table, strategy, wanted) in cases {
        let sweep = sweep::open(&fixture.server.url(), table, strategy).expect("plain names");
        let refused = sweep.batch(Epoch(1), 1).await.expect_err(wanted);
        assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
        let message = refused.to_string();
        assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
    }
    let away = sweep::open("mysql://x@127.0.0.1:1/x", things.table(), Strategy::Delete);
    let away = away.expect("the names are plain").batch(Epoch(1), 1).await;
    assert!(matches!(away, Err(SweepError::Unavailable { .. })), "{away:?}");
}

/// What docs/stores/mysql.md lists is enough, and less is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_rights_are_enough() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "owned", DATETIME, Unit::Timestamp).await;
    let put = "INSERT INTO owned (a, b, until) VALUES (1, 'x', '2020-01-01'), \
               (2, 'x', '2020-01-01'), (3, 'x', '2020-01-01')";
    fixture.sql(put).await;
    fixture.sql("DROP TABLE IF EXISTS kept").await;
    fixture.sql("CREATE TABLE kept LIKE owned").await;
    let none = things.sweep(Strategy::Delete).batch(Epoch(1), 0).await.expect("it may");
    assert_eq!(none.records, 0, "the register is made by a role that may");
    fixture.sql("DROP USER IF EXISTS 'sweeper'@'%'").await;
    fixture.sql("CREATE USER 'sweeper'@'%' IDENTIFIED BY 'hush'").await;
    let url = format!("mysql://sweeper:hush@{}/baton", fixture.server.address());
    let all = || [Strategy::soft_delete("gone"), Strategy::archive("kept"), Strategy::Delete];
    fixture.sql("GRANT SELECT, INSERT, UPDATE ON baton.baton_fences TO 'sweeper'@'%'").await;
    for strategy in all() {
        let sweep = sweep::open(&url, things.table(), strategy).expect("the names are plain");
        let refused = sweep.batch(Epoch(1), 1).await.expect_err("it has no rights");
        assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
    }
    fixture.sql("GRANT SELECT, UPDATE, DELETE ON baton.owned TO 'sweeper'@'%'").await;
    fixture.sql("GRANT INSERT ON baton.kept TO 'sweeper'@'%'").await;
    for strategy in all() {
        let sweep = sweep::open(&url, things.table(), strategy).expect("the names are plain");
        assert_eq!(sweep.batch(Epoch(1), 1).await.expect("it may").records, 1);
    }
}

/// A connection that nothing comes back on is given up in time, and the next batch makes another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_falls_silent_between_batches_is_not_waited_for() {
    let fixture = MysqlFixture::start().await;
    let things = Things::make(&fixture, "silent", DATETIME, Unit::Timestamp).await;
    let proxy = Proxy::to(fixture.server.address()).await;
    let url = format!("{}?timeout_ms=300", fixture.server.url_at(proxy.address()));
    let sweep = sweep::open(&url, things.table(), Strategy::Delete).expect("the names are plain");
    until("a connection", async || sweep.batch(Epoch(1), 10).await.ok()).await;
    proxy.set(ConnectionFault::HalfOpen);
    let silent = soon(async { sweep.batch(Epoch(1), 10).await.err() }).await.expect("in time");
    assert!(matches!(silent, SweepError::Unavailable { .. }), "{silent:?}");
    let looked = soon(async { sweep.examine().await.err() }).await.expect("in time");
    assert!(matches!(looked, SweepError::Unavailable { .. }), "{looked:?}");
    proxy.set(ConnectionFault::None);
    fixture.sql("INSERT INTO silent (a, b, until) VALUES (1, 'x', '2020-01-01')").await;
    until("a connection anew", async || sweep.batch(Epoch(1), 10).await.ok()).await;
    assert_eq!(things.left().await, Vec::<u32>::new());
}
