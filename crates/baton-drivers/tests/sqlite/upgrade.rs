//! A file of an earlier version is brought up to date, with all that is in it.

use baton_core::ids::Epoch;
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Precondition, Store, WriteOutcome};
use baton_testbed::counting::count_once;

use crate::beats::namespace;
use crate::file::File;

/// What versions 2 and 3 added.
const BACK: &str = "DROP TABLE baton_counters; DROP TABLE baton_counter_deltas; \
                    DROP TABLE baton_counter_writers; \
                    ALTER TABLE baton_terms DROP COLUMN gap_at_most_ms; PRAGMA user_version = 1";

#[tokio::test]
async fn the_first_version_is_added_to_and_loses_nothing() {
    let (file, web) = (File::new(), namespace("web"));
    let store = SqliteStore::open(file.config()).expect("it is made");
    let write = store.write_document(&web, "d", vec![7], Precondition::Any, Some(Epoch(3)));
    assert_eq!(write.await, Ok(WriteOutcome::Written(1)));
    drop(store);
    let term = "INSERT INTO baton_terms (namespace, epoch, node_id, boot, began_ms, gap_ms) \
                VALUES ('web', 2, 'a', '0000000000000000000000000000000b', 1000, 7)";
    file.sql(term).expect("it is a database");
    file.sql(BACK).expect("it is a database");

    let store = SqliteStore::open(file.config()).expect("it is added to");
    assert_eq!(file.number("PRAGMA user_version"), 3);
    let terms = store.history(&web, 5).await.expect("it can be read");
    let gaps: Vec<_> = terms.iter().map(|term| (term.gap_ms, term.gap_at_most_ms)).collect();
    assert_eq!(gaps, [(Some(7), None)]);
    let found = store.read_document(&web, "d").await.expect("it can be read");
    assert_eq!(found.map(|document| document.body), Some(vec![7]));
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 1);
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 2);
}
