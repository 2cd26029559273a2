//! What every sweep of a table must do, whatever database the table is in: one set of cases, in SQL
//! that all of them read.
//!
//! ```text
//!   Tables: url, run, ask, drop_index ── all:
//!     ├─ only_due_rows_go_not_those_of_the_same_key   for every strategy
//!     ├─ a_key_that_tells_no_rows_apart_is_refused   no unique index, or columns that may be NULL
//!     ├─ rows_are_marked_moved_or_handed_over
//!     └─ what_is_not_there_is_told
//! ```

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_drivers::sweep::{self, Strategy, Table, Unit};
use baton_store::sweep::{Sweep, SweepError};

/// Milliseconds since 1970 that no test lives to see.
const NEVER: i64 = 99_999_999_999_999;

/// A database with tables of the user's own.
#[async_trait]
pub trait Tables: Send + Sync {
    /// The URL of the database.
    fn url(&self) -> String;

    /// Runs one statement.
    async fn run(&self, sql: &str);

    /// The first column of each row, as text.
    async fn ask(&self, sql: &str) -> Vec<String>;

    /// Drops this index of this table.
    async fn drop_index(&self, index: &str, table: &str);
}

/// A sweep of this table by this key: a row is over at the moment in its column `until`, in
/// milliseconds since 1970.
///
/// # Panics
///
/// If a name is not a plain one.
pub fn sweep(tables: &dyn Tables, table: &str, key: &[&str], strategy: Strategy) -> Arc<dyn Sweep> {
    let table = Table::new(table).key(key.iter().copied()).expires("until");
    let sweep = sweep::open(&tables.url(), table.unit(Unit::UnixMillis), strategy);
    sweep.expect("the names are plain")
}

/// Every strategy, for a table with the column `gone` and an archive of this name.
fn strategies(archive: &str) -> [Strategy; 4] {
    let hand_over = Strategy::callback(|_| async { Ok(()) });
    [Strategy::Delete, Strategy::soft_delete("gone"), Strategy::archive(archive), hand_over]
}

/// The number of cases.
pub const CASES: usize = 4;

/// Runs every case, one after another. Says how many there were.
///
/// # Panics
///
/// If a case fails.
pub async fn all(tables: &dyn Tables) -> usize {
    only_due_rows_go_not_those_of_the_same_key(tables).await;
    a_key_that_tells_no_rows_apart_is_refused(tables).await;
    rows_are_marked_moved_or_handed_over(tables).await;
    what_is_not_there_is_told(tables).await;
    CASES
}

/// Makes a table anew, without an index.
async fn make(tables: &dyn Tables, name: &str) {
    tables.run(&format!("DROP TABLE IF EXISTS {name}")).await;
    let columns = "id BIGINT NOT NULL, owner BIGINT NOT NULL, other BIGINT, until BIGINT, \
                   name VARCHAR(9), gone BIGINT";
    tables.run(&format!("CREATE TABLE {name} ({columns})")).await;
}

/// Puts rows of an id, an owner and an expiry.
async fn put(tables: &dyn Tables, name: &str, rows: &[(u32, u32, i64)]) {
    for (id, owner, until) in rows {
        let values = format!("{id}, {owner}, {until}, 'r{id}'");
        tables.run(&format!("INSERT INTO {name} (id, owner, until, name) VALUES ({values})")).await;
    }
}

/// The ids of the rows for which this holds.
async fn ids(tables: &dyn Tables, name: &str, condition: &str) -> Vec<String> {
    tables.ask(&format!("SELECT id FROM {name} WHERE {condition} ORDER BY id")).await
}

fn refused(outcome: Result<(), SweepError>, wanted: &str) {
    let refused = outcome.expect_err(wanted);
    assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");
    let message = refused.to_string();
    assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
}

/// Another row with the key of one that is due stays, whatever is done with that one.
async fn only_due_rows_go_not_those_of_the_same_key(tables: &dyn Tables) {
    for strategy in strategies("shared_old") {
        make(tables, "shared").await;
        make(tables, "shared_old").await;
        tables.run("CREATE UNIQUE INDEX shared_owner ON shared (owner)").await;
        let sweep = sweep(tables, "shared", &["owner"], strategy);
        put(tables, "shared", &[(1, 1, 1)]).await;
        assert_eq!(sweep.batch(Epoch(1), 10).await.expect("the key is unique").records, 1);
        // The index is taken away behind its back.
        tables.run("DELETE FROM shared").await;
        tables.drop_index("shared_owner", "shared").await;
        put(tables, "shared", &[(2, 7, 2), (3, 7, NEVER), (4, 8, 3), (5, 8, NEVER)]).await;
        assert_eq!(sweep.batch(Epoch(1), 10).await.expect("it looked before").records, 2);
        let kept = ids(tables, "shared", "gone IS NULL").await;
        assert_eq!(kept, ["3", "5"], "they are not due");
        assert!(!ids(tables, "shared_old", "1 = 1").await.contains(&"3".to_owned()));
    }
}

/// A key must tell every row from every other, and says so before anything is touched.
async fn a_key_that_tells_no_rows_apart_is_refused(tables: &dyn Tables) {
    make(tables, "keyed").await;
    make(tables, "keyed_old").await;
    put(tables, "keyed", &[(1, 7, 1), (2, 7, NEVER)]).await;
    let cases: [(&str, &[&str], &str); 6] = [
        ("", &["owner"], "key owner of table keyed has no unique index"),
        ("owner, id", &["owner"], "key owner of table keyed has no unique index"),
        ("owner, id", &["id", "owner"], ""),
        ("other", &["other"], "column other in key other of table keyed may be NULL"),
        ("id", &["other", "id"], "column other in key other, id of table keyed may be NULL"),
        ("id", &["id", "owner"], ""),
    ];
    for (number, (index, key, wanted)) in cases.into_iter().enumerate() {
        if !index.is_empty() {
            tables.run(&format!("CREATE UNIQUE INDEX keyed_{number} ON keyed ({index})")).await;
        }
        for strategy in strategies("keyed_old") {
            let sweep = sweep(tables, "keyed", key, strategy);
            match wanted {
                "" => sweep.examine().await.expect("the key will do"),
                wanted => {
                    refused(sweep.examine().await, wanted);
                    refused(sweep.batch(Epoch(1), 10).await.map(drop), wanted);
                }
            }
        }
        assert_eq!(ids(tables, "keyed", "gone IS NULL").await, ["1", "2"], "nothing was touched");
    }
}

/// What each strategy leaves behind.
async fn rows_are_marked_moved_or_handed_over(tables: &dyn Tables) {
    make(tables, "acted").await;
    make(tables, "acted_old").await;
    tables.run("CREATE UNIQUE INDEX acted_id ON acted (id)").await;
    put(tables, "acted", &[(1, 1, 1), (2, 1, 2), (3, 1, NEVER)]).await;
    tables.run("UPDATE acted SET gone = 7 WHERE id = 2").await;
    let sweep = |strategy| sweep(tables, "acted", &["id"], strategy);
    let mark = sweep(Strategy::soft_delete("gone"));
    assert_eq!(mark.batch(Epoch(1), 100).await.expect("it is there").records, 1);
    assert_eq!(mark.batch(Epoch(1), 100).await.expect("it is there").records, 0);
    assert_eq!(ids(tables, "acted", "gone > 1600000000000").await, ["1"], "the server's own time");
    assert_eq!(ids(tables, "acted", "gone = 7").await, ["2"], "none is overwritten");

    let moved = sweep(Strategy::archive("acted_old"));
    assert_eq!(moved.batch(Epoch(1), 1).await.expect("it is there").records, 1);
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["2", "3"]);
    assert_eq!(ids(tables, "acted_old", "name = 'r1' AND until = 1").await, ["1"]);

    let refuse = sweep(Strategy::callback(|_| async { Err("not now".into()) }));
    let failed = refuse.batch(Epoch(1), 9).await.expect_err("it said no").to_string();
    assert!(failed.ends_with("table acted failed (not now); nothing was removed"), "{failed}");
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["2", "3"]);
    let rows = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&rows);
    let take = Strategy::callback(move |batch| {
        keep.lock().expect("no holder panics").extend(batch);
        std::future::ready(Ok(()))
    });
    let handed = sweep(take).batch(Epoch(1), 9).await;
    assert_eq!(handed.expect("it went well").records, 1);
    let rows = rows.lock().expect("no holder panics").clone();
    assert_eq!((rows.len(), &rows[0]["id"], &rows[0]["name"]), (1, &2.into(), &"r2".into()));
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["3"]);
}

/// A wrong name is told as one, in one line, by a look and by a batch.
async fn what_is_not_there_is_told(tables: &dyn Tables) {
    make(tables, "named").await;
    tables.run("CREATE UNIQUE INDEX named_id ON named (id)").await;
    let cases: [(&str, &[&str], Strategy, &str); 4] = [
        ("thinks", &["id"], Strategy::Delete, "there is no table thinks"),
        ("named", &["idd"], Strategy::Delete, "table named has no column idd; it has id, owner"),
        ("named", &["id"], Strategy::soft_delete("dead"), "table named has no column dead"),
        ("named", &["id"], Strategy::archive("never"), "there is no table never"),
    ];
    for (table, key, strategy, wanted) in cases {
        let sweep = sweep(tables, table, key, strategy);
        refused(sweep.examine().await, wanted);
        refused(sweep.batch(Epoch(1), 1).await.map(drop), wanted);
    }
}
