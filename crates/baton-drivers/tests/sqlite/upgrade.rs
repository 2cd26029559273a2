//! A file of an earlier version is brought up to date, with all that is in it.

use baton_core::ids::Epoch;
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Precondition, Store, WriteOutcome};
use baton_testbed::counting::count_once;

use crate::beats::namespace;
use crate::file::File;

/// What version 2 added.
const BACK: &str = "DROP TABLE baton_counters; DROP TABLE baton_counter_deltas; \
                    DROP TABLE baton_counter_writers; PRAGMA user_version = 1";

#[tokio::test]
async fn the_first_version_is_added_to_and_loses_nothing() {
    let (file, web) = (File::new(), namespace("web"));
    let store = SqliteStore::open(file.config()).expect("it is made");
    let write = store.write_document(&web, "d", vec![7], Precondition::Any, Some(Epoch(3)));
    assert_eq!(write.await, Ok(WriteOutcome::Written(1)));
    drop(store);
    file.sql(BACK).expect("it is a database");

    let store = SqliteStore::open(file.config()).expect("it is added to");
    assert_eq!(file.number("PRAGMA user_version"), 2);
    let found = store.read_document(&web, "d").await.expect("it can be read");
    assert_eq!(found.map(|document| document.body), Some(vec![7]));
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 1);
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 2);
}
