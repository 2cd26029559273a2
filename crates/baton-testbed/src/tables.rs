//! What every sweep of a table must do, whatever database the table is in: one set of cases, in SQL
//! that all of them read.
//!
//! ```text
//!   Tables: run, ask, drop_index, sweep(table, key, act) ── all:
//!     ├─ only_due_rows_go_not_those_of_the_same_key   for every act
//!     ├─ a_key_that_tells_no_rows_apart_is_refused   no unique index, or columns that may be NULL
//!     ├─ rows_are_marked_moved_or_handed_over
//!     └─ what_is_not_there_is_told
//! ```

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::sweep::{Sweep, SweepError};
use serde_json::Value;

/// Milliseconds since 1970 that no test lives to see.
const NEVER: i64 = 99_999_999_999_999;

/// Takes the rows of a batch; an error keeps them.
pub type Taker = Arc<dyn Fn(Vec<Value>) -> Result<(), String> + Send + Sync>;

/// What is done with a row that is due.
#[derive(Clone)]
pub enum Act {
    /// It is deleted.
    Delete,
    /// This column is set.
    Mark(&'static str),
    /// It is moved to this table.
    Move(&'static str),
    /// It is handed over, then deleted.
    HandOver(Taker),
}

impl Act {
    /// Each of them, for a table with the column `gone` and an archive of this name.
    fn all(archive: &'static str) -> [Self; 4] {
        let taken: Taker = Arc::new(|_| Ok(()));
        [Self::Delete, Self::Mark("gone"), Self::Move(archive), Self::HandOver(taken)]
    }
}

/// A database with tables of the user's own.
#[async_trait]
pub trait Tables: Send + Sync {
    /// Runs one statement.
    async fn run(&self, sql: &str);

    /// The first column of each row, as text.
    async fn ask(&self, sql: &str) -> Vec<String>;

    /// Drops this index of this table.
    async fn drop_index(&self, index: &str, table: &str);

    /// A sweep of this table by this key: a row is over at the moment in its column `until`, in
    /// milliseconds since 1970.
    fn sweep(&self, table: &str, key: &[&str], act: Act) -> Arc<dyn Sweep>;
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
    for act in Act::all("shared_old") {
        make(tables, "shared").await;
        make(tables, "shared_old").await;
        tables.run("CREATE UNIQUE INDEX shared_owner ON shared (owner)").await;
        let sweep = tables.sweep("shared", &["owner"], act);
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
        for act in Act::all("keyed_old") {
            let sweep = tables.sweep("keyed", key, act);
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

/// What each act leaves behind.
async fn rows_are_marked_moved_or_handed_over(tables: &dyn Tables) {
    make(tables, "acted").await;
    make(tables, "acted_old").await;
    tables.run("CREATE UNIQUE INDEX acted_id ON acted (id)").await;
    put(tables, "acted", &[(1, 1, 1), (2, 1, 2), (3, 1, NEVER)]).await;
    tables.run("UPDATE acted SET gone = 7 WHERE id = 2").await;
    let sweep = |act| tables.sweep("acted", &["id"], act);
    let mark = sweep(Act::Mark("gone"));
    assert_eq!(mark.batch(Epoch(1), 100).await.expect("it is there").records, 1);
    assert_eq!(mark.batch(Epoch(1), 100).await.expect("it is there").records, 0);
    assert_eq!(ids(tables, "acted", "gone > 1600000000000").await, ["1"], "the server's own time");
    assert_eq!(ids(tables, "acted", "gone = 7").await, ["2"], "none is overwritten");

    let moved = sweep(Act::Move("acted_old"));
    assert_eq!(moved.batch(Epoch(1), 1).await.expect("it is there").records, 1);
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["2", "3"]);
    assert_eq!(ids(tables, "acted_old", "name = 'r1' AND until = 1").await, ["1"]);

    let refuse = sweep(Act::HandOver(Arc::new(|_| Err("not now".to_owned()))));
    let failed = refuse.batch(Epoch(1), 9).await.expect_err("it said no").to_string();
    assert!(failed.ends_with("table acted failed (not now); nothing was removed"), "{failed}");
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["2", "3"]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&told);
    let take: Taker = Arc::new(move |rows| {
        keep.lock().expect("no holder panics").extend(rows);
        Ok(())
    });
    let handed = sweep(Act::HandOver(take)).batch(Epoch(1), 9).await;
    assert_eq!(handed.expect("it went well").records, 1);
    let told = told.lock().expect("no holder panics").clone();
    assert_eq!((told.len(), &told[0]["id"], &told[0]["name"]), (1, &2.into(), &"r2".into()));
    assert_eq!(ids(tables, "acted", "1 = 1").await, ["3"]);
}

/// A wrong name is told as one, in one line, by a look and by a batch.
async fn what_is_not_there_is_told(tables: &dyn Tables) {
    make(tables, "named").await;
    tables.run("CREATE UNIQUE INDEX named_id ON named (id)").await;
    let cases: [(&str, &[&str], Act, &str); 4] = [
        ("thinks", &["id"], Act::Delete, "there is no table thinks"),
        ("named", &["idd"], Act::Delete, "table named has no column idd; it has id, owner"),
        ("named", &["id"], Act::Mark("dead"), "table named has no column dead"),
        ("named", &["id"], Act::Move("never"), "there is no table never"),
    ];
    for (table, key, act, wanted) in cases {
        let sweep = tables.sweep(table, key, act);
        refused(sweep.examine().await, wanted);
        refused(sweep.batch(Epoch(1), 1).await.map(drop), wanted);
    }
}
