//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use std::sync::Arc;

use baton_core::ids::Lineage;
use baton_core::partition::{AssignmentVersion, PartitionReport, PartitionSet};
use baton_core::protocol::Claim;
use baton_drivers::fences;
use baton_testbed::written_before::{self, LAST, RESOURCE, space};

use crate::fixture::{MysqlFixture, contender};

/// What stands between two statements of the fixture.
const NEXT: &str = "\n;;\n";

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let fixture = MysqlFixture::start().await;
    for statement in include_str!("../fixtures/mysql.sql").split(NEXT) {
        fixture.sql(statement).await;
    }
    let url = fixture.server.url();
    let stored = fences::list(&url, &space()).await.expect("the server answers");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(RESOURCE, LAST)]);
    written_before::check(&baton_drivers::open(&url).await.expect("it can be opened")).await;
}

/// During a deploy: programs of version 4 go on with what they know.
#[tokio::test]
async fn a_program_of_version_4_can_use_the_schema() {
    let fixture = MysqlFixture::start().await;
    let store = baton_drivers::open(&fixture.server.url()).await.expect("it can be opened");
    written_before::fill(&store).await;
    let versions = "SELECT CONCAT(schema_version, ' ', lowest_compatible) FROM baton_meta";
    assert_eq!(fixture.value(versions).await.as_deref(), Some("5 4"));
    let write = async |name: &str, wants: &str, fence: &str| {
        let call = format!("CALL baton_write_document('web', 0, '{name}', 'x', {wants}, {fence})");
        let row = fixture.sql(&call).await.remove(0);
        (row.get::<u64, _>("outcome"), row.get::<u64, _>("version"))
    };
    let (conflict, written) = (Some(0), Some(1));
    assert_eq!(write("settings", "0, 0, 2", "2").await, (written, Some(3)));
    assert_eq!(write("settings", "0, 0, 2", "2").await, (conflict, Some(3)));
    assert_eq!(write("settings", "0, 1, NULL", "NULL").await, (conflict, Some(3)));
    assert_eq!(write("new", "0, 1, NULL", "NULL").await, (written, Some(1)));
    assert_eq!(write("new", "1, 0, NULL", "1").await.0, Some(2), "fenced");
    let found = store.read_document(&space(), "settings").await.expect("the server answers");
    assert_eq!(found.map(|document| document.body), Some(b"x".to_vec()));

    // A look of a node that goes by the id of one which said something of its partitions.
    let mut node = contender(&fixture.server.url(), "web", 1).await;
    node.record.partitions = Some(Arc::new(PartitionReport {
        lineage: Lineage(1),
        session: 1,
        acked: AssignmentVersion::default(),
        stopping: PartitionSet::default(),
    }));
    node.look().await;
    let profile = r#"{"priority":0,"labels":{},"lifeline":null,"version":""}"#;
    let (boot, none) = (node.boot(), ["NULL"; 9].join(", "));
    let look = format!(
        "CALL baton_beat('web', 0, 'node-1', '{boot}', 7, 1, 0, 0, 0, '{profile}', NULL, NULL, 0, \
         0, 0, 0, {none}, 0)"
    );
    let row = fixture.sql(&look).await.remove(0);
    assert_eq!(row.get::<u64, _>("epoch"), Some(LAST.0));
    let members = store.members(&space()).await.expect("the server answers");
    assert_eq!((members[0].record.beat, &members[0].record.partitions), (7, &None));
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let fixture = MysqlFixture::start().await;
    let store = baton_drivers::open(&fixture.server.url()).await.expect("it can be opened");
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

/// A deploy was rolled back: the schema is of a later version, and one of its procedures was
/// changed.
#[tokio::test]
async fn a_later_schema_is_used_if_it_allows_this_program_and_refused_if_not() {
    let fixture = MysqlFixture::start().await;
    let url = fixture.server.url();
    let store = baton_drivers::open(&url).await.expect("it can be opened");
    written_before::fill(&store).await;
    for statement in [
        "ALTER PROCEDURE baton_leave COMMENT 'of version 9'",
        "ALTER TABLE baton_nodes ADD COLUMN colour TEXT NULL",
        "UPDATE baton_meta SET schema_version = 9, lowest_compatible = 4",
    ] {
        fixture.sql(statement).await;
    }
    let node = contender(&url, "other", 1).await;
    let held = node.take(Claim::Vacant).await;
    node.goes_on(held).await;
    written_before::check(&node.store).await;
    let kept = "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.routines \
                WHERE routine_comment = 'of version 9'";
    assert_eq!(fixture.value(kept).await.as_deref(), Some("1"), "no procedure was made anew");
    let versions = "SELECT CONCAT(schema_version, ' ', lowest_compatible) FROM baton_meta";
    assert_eq!(fixture.value(versions).await.as_deref(), Some("9 4"));
    drop(baton_drivers::open_to_read(&url).await.expect("it may be read too"));

    fixture.sql("UPDATE baton_meta SET lowest_compatible = 6").await;
    let wanted = "has schema version 9, which needs a program that knows version 6 or later, and \
                  this program knows 5; use a newer version of it";
    for refused in [baton_drivers::open(&url).await, baton_drivers::open_to_read(&url).await] {
        let refused = refused.expect_err("it needs a later program").to_string();
        assert!(refused.ends_with(wanted), "{refused}");
    }
}
