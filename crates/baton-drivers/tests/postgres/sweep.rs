//! Expired rows of the user's own tables.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_drivers::sweep::{self, Strategy, Table, Unit};
use baton_store::sweep::{Sweep, SweepError};
use baton_testbed::expiry::{self, Records};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::tables::{self, Tables};
use baton_testbed::wait::until;

use crate::fixture::{Postgres, Session};

/// A table of the user's, and how its column counts.
struct Things<'a> {
    fixture: &'a Postgres,
    name: &'static str,
    /// The column's type, and a moment of `{ms}` in it.
    column: (&'static str, &'static str),
    unit: Unit,
}

const STAMP: (&str, &str) = ("timestamptz", "to_timestamp({ms} / 1000.0)");
const BARE: (&str, &str) = ("timestamp", "(to_timestamp({ms} / 1000.0) AT TIME ZONE 'UTC')");
const SECONDS: (&str, &str) = ("numeric", "({ms} / 1000.0)");
const MILLIS: (&str, &str) = ("bigint", "{ms}");

impl<'a> Things<'a> {
    async fn make(fixture: &'a Postgres, name: &'static str, unit: Unit) -> Self {
        let column = match unit {
            Unit::Timestamp => STAMP,
            Unit::UnixSeconds => SECONDS,
            Unit::UnixMillis => MILLIS,
        };
        Self::of(fixture, name, column, unit).await
    }

    async fn of(
        fixture: &'a Postgres,
        name: &'static str,
        column: (&'static str, &'static str),
        unit: Unit,
    ) -> Self {
        let make = format!(
            "CREATE TABLE {name} (id bigint PRIMARY KEY, until {}, name text, gone {}); \
             CREATE INDEX ON {name} (until)",
            column.0, column.0
        );
        fixture.sql(&make).await;
        Self { fixture, name, column, unit }
    }

    fn table(&self) -> Table {
        Table::new(self.name).expires("until").unit(self.unit)
    }

    fn sweep(&self, strategy: Strategy) -> Arc<dyn Sweep> {
        let url = self.fixture.server.url();
        sweep::open(&url, self.table(), strategy).expect("the names are plain")
    }
}

#[async_trait]
impl Records for Things<'_> {
    async fn now_ms(&self) -> i64 {
        let sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        self.fixture.sql(sql).await[0].parse().expect("it is a number")
    }

    async fn put(&self, expiries: &BTreeMap<u32, i64>) {
        let rows = expiries.iter();
        let rows = rows.map(|(id, at)| {
            format!("({id}, {}, 'x')", self.column.1.replace("{ms}", &at.to_string()))
        });
        let sql = format!(
            "INSERT INTO {} (id, until, name) VALUES {} \
             ON CONFLICT (id) DO UPDATE SET until = excluded.until",
            self.name,
            rows.collect::<Vec<_>>().join(", ")
        );
        self.fixture.sql(&sql).await;
    }

    async fn left(&self) -> Vec<u32> {
        let rows = self.fixture.sql(&format!("SELECT id FROM {} ORDER BY id", self.name)).await;
        rows.iter().map(|id| id.parse().expect("it is a number")).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_expired_goes_and_nothing_goes_early() {
    let fixture = Postgres::start().await;
    // A session's own zone has no part in it.
    fixture.sql("ALTER DATABASE postgres SET timezone TO 'Asia/Kathmandu'").await;
    let all = [
        Things::make(&fixture, "stamped", Unit::Timestamp).await,
        Things::of(&fixture, "bare", BARE, Unit::Timestamp).await,
        Things::make(&fixture, "seconds", Unit::UnixSeconds).await,
        Things::make(&fixture, "millis", Unit::UnixMillis).await,
    ];
    for things in all {
        let sweep = things.sweep(Strategy::Delete);
        expiry::none_early_and_none_left(&things, &*sweep).await;
        assert_eq!(things.left().await.len(), 2, "those that are not due for long");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_bounded_updates_count_and_epochs_fence() {
    let fixture = Postgres::start().await;
    let things = Things::make(&fixture, "things", Unit::Timestamp).await;
    let sweep = things.sweep(Strategy::Delete);
    expiry::a_backlog_goes_in_bounded_batches(&things, &*sweep).await;
    expiry::an_update_saves_a_record(&things, &*sweep).await;
    fixture.sql("TRUNCATE things").await;
    expiry::a_later_epoch_ends_it(&things, &*sweep).await;
    // The connection is cut: the next batch makes another.
    fixture.sql("INSERT INTO things SELECT id, now() FROM generate_series(1, 5) AS id").await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE application_name = 'baton'";
    fixture.sql(cut).await;
    until("a connection anew", async || sweep.batch(Epoch(9), 10).await.ok()).await;
    assert_eq!(things.left().await, Vec::<u32>::new());
}

/// Another session changes a row while a batch runs. The batch passes over the row, which is not
/// due any more after that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_is_under_way_saves_its_row() {
    let fixture = Postgres::start().await;
    let things = Things::make(&fixture, "things", Unit::Timestamp).await;
    let put = "INSERT INTO things SELECT id, now() - interval '1 h' FROM generate_series(1, 3) id";
    fixture.sql(put).await;
    let user = Session::open(&fixture.server.url()).await;
    let change = "BEGIN; UPDATE things SET until = now() + interval '1 hour' WHERE id = 2";
    user.run(change).await.expect("no other session does");
    let sweep = things.sweep(Strategy::Delete);
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 2);
    user.run("COMMIT").await.expect("no other session does");
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 0);
    assert_eq!(things.left().await, [2]);
    // One that is undone saves nothing.
    user.run("UPDATE things SET until = now() - interval '1 hour'").await.expect("it is sound");
    user.run(change).await.expect("no other session does");
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 0);
    user.run("ROLLBACK").await.expect("no other session does");
    assert_eq!(sweep.batch(Epoch(1), 10).await.expect("no transaction waits").records, 1);
}

/// A row is named by its place, and every partition has a first place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_row_of_another_partition_goes_with_it() {
    let fixture = Postgres::start().await;
    fixture
        .sql(
            "CREATE TABLE parts (id bigint, until timestamptz, PRIMARY KEY (id)) \
             PARTITION BY RANGE (id); \
             CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM (0) TO (100); \
             CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM (100) TO (200); \
             INSERT INTO parts SELECT id, now() - interval '1 h' FROM generate_series(0, 9) id; \
             INSERT INTO parts SELECT id, now() + interval '1 h' FROM generate_series(100, 109) id",
        )
        .await;
    let url = fixture.server.url();
    let table = || Table::new("public.parts").expires("until");
    let told = Strategy::callback(|rows| {
        assert_eq!(rows.len(), 4);
        std::future::ready(Ok(()))
    });
    let handed = sweep::open(&url, table(), told).expect("the names are plain");
    assert_eq!(handed.batch(Epoch(1), 4).await.expect("it is there").records, 4);
    let sweep = sweep::open(&url, table(), Strategy::Delete).expect("the names are plain");
    assert_eq!(sweep.batch(Epoch(1), 100).await.expect("it is there").records, 6);
    assert_eq!(fixture.sql("SELECT count(*) FROM parts WHERE id >= 100").await, ["10"]);
}

#[async_trait]
impl Tables for Postgres {
    fn url(&self) -> String {
        self.server.url()
    }

    async fn run(&self, sql: &str) {
        self.sql(sql).await;
    }

    async fn ask(&self, sql: &str) -> Vec<String> {
        self.sql(sql).await
    }

    async fn drop_index(&self, index: &str, _table: &str) {
        self.sql(&format!("DROP INDEX {index}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_swept_as_every_table_is() {
    let fixture = Postgres::start().await;
    assert_eq!(tables::all(&fixture).await, tables::CASES);
}

/// Unique in part only, or of an expression, or with a column that is only included.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_of_some_rows_makes_no_key() {
    let fixture = Postgres::start().await;
    fixture
        .sql(
            "CREATE TABLE partly (a bigint NOT NULL, b bigint NOT NULL, until bigint); \
             CREATE UNIQUE INDEX ON partly (a) WHERE until > 5; \
             CREATE UNIQUE INDEX ON partly ((a + 1)); \
             CREATE UNIQUE INDEX ON partly (b) INCLUDE (a)",
        )
        .await;
    let refused = tables::sweep(&fixture, "partly", &["a"], Strategy::Delete).examine().await;
    let refused = refused.expect_err("rows may share it").to_string();
    assert!(refused.contains("key a of table partly has no unique index"), "{refused}");
    let b = tables::sweep(&fixture, "partly", &["b"], Strategy::Delete);
    b.examine().await.expect("b tells rows apart");
    let made = "SELECT count(*) FROM pg_class WHERE relname = 'baton_fences'";
    assert_eq!(fixture.sql(made).await, ["0"], "a look makes nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_swept_is_told_in_one_line() {
    let fixture = Postgres::start().await;
    let things = Things::make(&fixture, "things", Unit::Timestamp).await;
    fixture.sql("CREATE VIEW seen AS SELECT * FROM things").await;
    let aged = things.table().created("name", Duration::from_secs(1));
    let cases = [
        (Table::new("app.thinks"), Strategy::Delete, "there is no table app.thinks"),
        (Table::new("seen").expires("until"), Strategy::Delete, "seen is no table"),
        (Table::new("things"), Strategy::Delete, "table things has no column expires_at; it has"),
        (aged, Strategy::Delete, "column name of table things is of type text; a timestamp"),
        (things.table().unit(Unit::UnixMillis), Strategy::Delete, "whole numbers are needed"),
        (things.table(), Strategy::soft_delete("name"), "column name of table things is of type"),
    ];
    for (table, strategy, wanted) in cases {
        let sweep = sweep::open(&fixture.server.url(), table, strategy).expect("plain names");
        let refused = sweep.batch(Epoch(1), 1).await.expect_err(wanted);
        assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
        let message = refused.to_string();
        assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
    }
    let away = sweep::open("postgres://x@127.0.0.1:1/x", things.table(), Strategy::Delete);
    let away = away.expect("the names are plain").batch(Epoch(1), 1).await;
    assert!(matches!(away, Err(SweepError::Unavailable { .. })), "{away:?}");
}

/// The old leader: has the table in view, and sweeps when it is told to.
async fn sweep_late(url: &str) {
    let table = Table::new("things").expires("until");
    let sweep = sweep::open(url, table, Strategy::Delete).expect("the names are plain");
    let first = sweep.batch(Epoch(1), 1).await.expect("it is the first");
    paused::report(&format!("swept {}", first.records));
    paused::wait_for_go_ahead();
    let late = sweep.batch(Epoch(1), 100).await;
    paused::report(&late.map_or_else(|refused| refused.to_string(), |swept| format!("{swept:?}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_coordinator_that_was_stopped_sweeps_nothing() {
    if let Some(url) = paused::orders_if_asked() {
        return sweep_late(&url).await;
    }
    let fixture = Postgres::start().await;
    let things = Things::make(&fixture, "things", Unit::Timestamp).await;
    fixture.sql("INSERT INTO things SELECT id, now() FROM generate_series(1, 9) AS id").await;
    let test = "sweep::an_old_coordinator_that_was_stopped_sweeps_nothing";
    let mut old = PausedLeader::start(test, &fixture.server.url());
    assert_eq!(old.next_report().await, "swept 1");
    old.pause();
    old.send_go_ahead().await;
    let next = things.sweep(Strategy::Delete).batch(Epoch(2), 3).await.expect("it leads now");
    assert_eq!(next.records, 3);
    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to ttl:things; its term is over (";
    let said = old.next_report().await;
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    assert_eq!(things.left().await.len(), 5, "only the new one's went");
}

/// What docs/stores/postgres.md lists is enough, and less is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documented_rights_are_enough() {
    let fixture = Postgres::start().await;
    let things = Things::make(&fixture, "things", Unit::Timestamp).await;
    let put = "INSERT INTO things SELECT id, now() FROM generate_series(1, 6) AS id";
    fixture.sql(put).await;
    fixture.sql("CREATE TABLE old (LIKE things); CREATE ROLE app LOGIN").await;
    let url = fixture.server.url().replace("postgres@", "app@");
    let told = |rows: Vec<serde_json::Value>| {
        assert_eq!(rows.len(), 1);
        std::future::ready(Ok(()))
    };
    let all = || {
        [
            Strategy::Delete,
            Strategy::soft_delete("gone"),
            Strategy::archive("old"),
            Strategy::callback(told),
        ]
    };
    for strategy in all() {
        let sweep = sweep::open(&url, things.table(), strategy).expect("the names are plain");
        let refused = sweep.batch(Epoch(1), 1).await.expect_err("it has no rights");
        assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
        let message = refused.to_string();
        assert!(message.contains("docs/stores/postgres.md"), "{message}");
    }
    fixture
        .sql(&baton_drivers::postgres::fence::sql("public", "baton_").expect("plain names"))
        .await;
    fixture.sql("GRANT SELECT, INSERT, UPDATE ON baton_fences TO app").await;
    fixture.sql("GRANT SELECT, UPDATE, DELETE ON things TO app; GRANT INSERT ON old TO app").await;
    for strategy in all() {
        let sweep = sweep::open(&url, things.table(), strategy).expect("the names are plain");
        assert_eq!(sweep.batch(Epoch(1), 1).await.expect("it may").records, 1);
    }
}
