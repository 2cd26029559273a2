//! A file of an earlier version is brought up to date, with all that is in it.

use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId};
use baton_core::partition::{AssignmentVersion, PartitionReport, PartitionSet};
use baton_core::protocol::{LeaseIntent, Outcome, View, ViewVersion};
use baton_drivers::sqlite::SqliteStore;
use baton_store::{Precondition, Store, WriteOutcome};
use baton_testbed::counting::count_once;

use crate::beats::{beat, look, namespace};
use crate::file::File;

/// What versions 2 to 4 added.
const BACK: &str = "DROP TABLE baton_counters; DROP TABLE baton_counter_deltas; \
                    DROP TABLE baton_counter_writers; \
                    ALTER TABLE baton_terms DROP COLUMN gap_at_most_ms; \
                    ALTER TABLE baton_nodes DROP COLUMN partitions; \
                    ALTER TABLE baton_nodes DROP COLUMN partitions_boot; \
                    DROP TABLE baton_schema; PRAGMA user_version = 1";

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
    assert_eq!(file.number("PRAGMA user_version"), 4);
    assert_eq!(file.number("SELECT lowest_compatible FROM baton_schema"), 3);
    let terms = store.history(&web, 5).await.expect("it can be read");
    let gaps: Vec<_> = terms.iter().map(|term| (term.gap_ms, term.gap_at_most_ms)).collect();
    assert_eq!(gaps, [(Some(7), None)]);
    let found = store.read_document(&web, "d").await.expect("it can be read");
    assert_eq!(found.map(|document| document.body), Some(vec![7]));
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 1);
    assert_eq!(count_once(&store, &web, Epoch(3)).await, 2);
}

/// A later version that this one is compatible with may have more columns.
#[tokio::test]
async fn columns_of_a_later_version_keep_their_values() {
    let (file, web) = (File::new(), namespace("web"));
    let store = SqliteStore::open(file.config()).expect("it is made");
    let write = async |number| {
        look(&store, &web, 1).await;
        let view = View {
            version: ViewVersion { epoch: Epoch(1), number },
            coordinator: NodeId::new("node-1").expect("tests name well"),
            members: Vec::new(),
            successors: Vec::new(),
            certain: 0,
        };
        let published = store.publish_view(&web, Epoch(1), Arc::new(view)).await;
        assert_eq!(published, Ok(Outcome::Applied));
        store.write_document(&web, "d", vec![7], Precondition::Any, None).await
    };
    assert_eq!(write(1).await, Ok(WriteOutcome::Written(1)));
    for table in ["nodes", "views", "documents"] {
        let add = format!("ALTER TABLE baton_{table} ADD COLUMN later INTEGER");
        file.sql(&format!("{add}; UPDATE baton_{table} SET later = 5")).expect("it is a database");
    }
    assert_eq!(write(2).await, Ok(WriteOutcome::Written(2)));
    for table in ["nodes", "views", "documents"] {
        assert_eq!(file.number(&format!("SELECT later FROM baton_{table}")), 5, "{table}");
    }
}

/// During a deploy: a program of version 3 goes by the id of a node that said something of its
/// partitions, and leaves the column as it is.
#[tokio::test]
async fn a_process_of_version_3_does_not_inherit_a_report() {
    let (file, web) = (File::new(), namespace("web"));
    let store = SqliteStore::open(file.config()).expect("it is made");
    let mut said = beat(1, LeaseIntent::Observe);
    said.node.partitions = Some(Arc::new(PartitionReport {
        lineage: Lineage(1),
        session: 1,
        acked: AssignmentVersion::default(),
        stopping: PartitionSet::default(),
    }));
    store.beat(&web, said.clone()).await.expect("the store answers");
    let reported = async || {
        let members = store.members(&web).await.expect("the store answers");
        members.into_iter().map(|it| (it.record.boot, it.record.partitions)).collect::<Vec<_>>()
    };
    assert_eq!(reported().await, [(BootId(1), said.node.partitions)]);
    let next = "UPDATE baton_nodes SET boot = '00000000000000000000000000000002', beat = 1";
    file.sql(next).expect("it is a database");
    assert_eq!(reported().await, [(BootId(2), None)]);
}
