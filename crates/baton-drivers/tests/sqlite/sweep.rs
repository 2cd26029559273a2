//! Expired rows of the user's own tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_drivers::sqlite::rusqlite::Connection;
use baton_drivers::sweep::{self, Strategy, Table, Unit};
use baton_store::sweep::{Sweep, SweepError};
use baton_testbed::expiry::{self, Records};
use baton_testbed::tables::{self, Tables};

use crate::file::File;

const MAKE: &str = "CREATE TABLE things (id INTEGER PRIMARY KEY, until, name TEXT, gone); \
    CREATE INDEX things_until ON things (until)";

/// The user's own database, and how its column counts.
struct Things {
    _file: File,
    conn: Mutex<Connection>,
    url: String,
    unit: Unit,
}

impl Things {
    fn new(unit: Unit) -> Self {
        let file = File::new();
        let path = file.folder().join("app.db");
        let conn = connect(&path);
        conn.execute_batch(MAKE).expect("the file is ours");
        let url = format!("sqlite://{}", path.display());
        Self { _file: file, conn: Mutex::new(conn), url, unit }
    }

    fn table(&self) -> Table {
        Table::new("things").expires("until").unit(self.unit)
    }

    fn sweep(&self, strategy: Strategy) -> Arc<dyn Sweep> {
        sweep::open(&self.url, self.table(), strategy).expect("the names are plain")
    }

    fn run(&self, sql: &str) {
        self.conn.lock().expect("no holder panics").execute_batch(sql).expect("it is sound");
    }

    fn value(&self, sql: &str) -> String {
        let conn = self.conn.lock().expect("no holder panics");
        conn.query_row(sql, (), |row| row.get(0)).expect("there is a row")
    }
}

fn connect(path: &Path) -> Connection {
    let conn = Connection::open(path).expect("the folder is ours");
    conn.busy_timeout(Duration::from_secs(20)).expect("it is a good timeout");
    conn
}

#[async_trait]
impl Records for Things {
    async fn now_ms(&self) -> i64 {
        let text = self.value("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) || ''");
        text.parse().expect("it is a number")
    }

    async fn put(&self, expiries: &BTreeMap<u32, i64>) {
        let value = match self.unit {
            Unit::Timestamp => "strftime('%Y-%m-%d %H:%M:%f', ?2 / 1000.0, 'unixepoch')",
            // A whole second is over when the last of its milliseconds is not yet due.
            Unit::UnixSeconds => "?2 / 1000.0",
            Unit::UnixMillis => "?2",
        };
        let sql = format!("INSERT OR REPLACE INTO things VALUES (?1, {value}, 'x', NULL)");
        let mut conn = self.conn.lock().expect("no holder panics");
        let work = conn.transaction().expect("no other connection writes for long");
        for (id, at) in expiries {
            work.execute(&sql, (id, at)).expect("the table is ours");
        }
        work.commit().expect("no other connection writes for long");
    }

    async fn left(&self) -> Vec<u32> {
        let conn = self.conn.lock().expect("no holder panics");
        let mut rows = conn.prepare("SELECT id FROM things ORDER BY id").expect("it is sound");
        let rows = rows.query_map((), |row| row.get(0)).expect("it is sound");
        rows.collect::<Result<_, _>>().expect("they are numbers")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_expired_goes_and_nothing_goes_early() {
    for unit in [Unit::Timestamp, Unit::UnixSeconds, Unit::UnixMillis] {
        let things = Things::new(unit);
        expiry::none_early_and_none_left(&things, &*things.sweep(Strategy::Delete)).await;
        assert_eq!(things.left().await.len(), 2, "those that are not due for long");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_bounded_updates_count_and_epochs_fence() {
    let things = Things::new(Unit::Timestamp);
    let sweep = things.sweep(Strategy::Delete);
    expiry::a_backlog_goes_in_bounded_batches(&things, &*sweep).await;
    expiry::an_update_saves_a_record(&things, &*sweep).await;
    things.run("DELETE FROM things");
    expiry::a_later_epoch_ends_it(&things, &*sweep).await;
    assert_eq!(things.left().await, Vec::<u32>::new());
}

/// Written in every way that SQLite reads as a moment, and in some that it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_a_moment_is_ever_due() {
    let things = Things::new(Unit::Timestamp);
    things.run(
        "INSERT INTO things (id, until) VALUES (1, '2020-01-01'), (2, '2020-01-01 12:00'), \
         (3, '2020-01-01T12:00:00Z'), (4, '2020-01-01 12:00:00.123'), (5, 5), (6, 'soon'), \
         (7, NULL), (8, 1600000000), (9, ''), (10, '2999-01-01'), \
         (11, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-1 second')), \
         (12, strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+1 hour'))",
    );
    let swept = things.sweep(Strategy::Delete).batch(Epoch(1), 100).await.expect("it is there");
    assert_eq!(swept.records, 5);
    assert_eq!(things.left().await, [5, 6, 7, 8, 9, 10, 12]);
}

#[async_trait]
impl Tables for Things {
    fn url(&self) -> String {
        self.url.clone()
    }

    async fn run(&self, sql: &str) {
        Things::run(self, sql);
    }

    async fn ask(&self, sql: &str) -> Vec<String> {
        let conn = self.conn.lock().expect("no holder panics");
        let mut rows = conn.prepare(sql).expect("it is sound");
        let rows = rows.query_map((), |row| row.get::<_, i64>(0)).expect("it is sound");
        rows.map(|number| number.expect("it is a number").to_string()).collect()
    }

    async fn drop_index(&self, index: &str, _table: &str) {
        Things::run(self, &format!("DROP INDEX {index}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_swept_as_every_table_is() {
    let things = Things::new(Unit::UnixMillis);
    assert_eq!(tables::all(&things).await, tables::CASES);
}

/// A primary key may be NULL here, unless it is said otherwise; and an index may be of some rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_without_a_key_stays_and_holds_nothing_up() {
    let things = Things::new(Unit::UnixMillis);
    things.run("CREATE TABLE named (name TEXT PRIMARY KEY, until INTEGER)");
    things.run("INSERT INTO named VALUES (NULL, 1), (NULL, 2), ('a', 3), ('b', 4), (NULL, 5)");
    for strategy in [Strategy::Delete, Strategy::callback(|_| async { Ok(()) })] {
        let sweep = tables::sweep(&things, "named", &["name"], strategy);
        assert_eq!(sweep.batch(Epoch(1), 1).await.expect("it is there").records, 1);
    }
    assert_eq!(things.value("SELECT count(name) || ' of ' || count(*) FROM named"), "0 of 3");

    things.run("CREATE TABLE some (a INTEGER NOT NULL, until INTEGER)");
    things.run("CREATE UNIQUE INDEX some_a ON some (a) WHERE until > 5");
    things.run("CREATE UNIQUE INDEX some_sum ON some (a + 1)");
    let sweep = tables::sweep(&things, "some", &["a"], Strategy::Delete);
    let refused = sweep.examine().await.expect_err("rows may share it").to_string();
    assert!(refused.contains("key a of table some has no unique index"), "{refused}");
}

/// A callback is not called under the lock of the file: an update may come while it runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_during_the_callback_saves_the_row() {
    let things = Arc::new(Things::new(Unit::UnixMillis));
    things.run("INSERT INTO things VALUES (1, 1, 'a', NULL), (2, 2, 'b', NULL)");
    let other = Arc::clone(&things);
    let callback = Strategy::callback(move |_| {
        other.run("UPDATE things SET until = 99999999999999 WHERE id = 1");
        std::future::ready(Ok(()))
    });
    let swept = things.sweep(callback).batch(Epoch(1), 10).await.expect("it went well");
    assert_eq!(swept.records, 1);
    assert_eq!(things.left().await, [1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_swept_is_told_in_one_line() {
    let things = Things::new(Unit::Timestamp);
    let wanted = "table things has no column expires_at; it has";
    let sweep = sweep::open(&things.url, Table::new("things"), Strategy::Delete);
    let refused = sweep.expect("the names are plain").batch(Epoch(1), 1).await.expect_err(wanted);
    assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
    assert!(refused.to_string().contains(wanted), "{refused}");
    let nowhere = sweep::open("sqlite:///nowhere/app.db", things.table(), Strategy::Delete);
    let away = nowhere.expect("the names are plain").batch(Epoch(1), 1).await;
    assert!(matches!(away, Err(SweepError::Unavailable { .. })), "{away:?}");
    // A table that is made right is found by the next batch.
    let late = sweep::open(&things.url, Table::new("late"), Strategy::Delete);
    let late = late.expect("the names are plain");
    assert!(late.batch(Epoch(1), 1).await.is_err());
    things.run("CREATE TABLE late (id TEXT PRIMARY KEY, expires_at TEXT) WITHOUT ROWID");
    things.run("INSERT INTO late VALUES ('a', '2020-01-01')");
    assert_eq!(late.batch(Epoch(1), 1).await.expect("it is there now").records, 1);
}
