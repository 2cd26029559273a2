//! A schema of an earlier version is brought up to date, with all that is in it.

use baton_core::protocol::Claim;
use baton_testbed::contender::held_in;
use baton_testbed::counting::count_once;

use crate::fixture::{MysqlFixture, contender};

/// What version 2 added.
const TABLES: [&str; 3] = ["counters", "counter_deltas", "counter_writers"];

/// What versions 2 and 5 added.
const PROCEDURES: [&str; 5] =
    ["append_deltas", "consolidate", "forget_writers", "beat_with_partitions", "write_documents"];

#[tokio::test]
async fn the_first_version_is_added_to_and_loses_nothing() {
    let fixture = MysqlFixture::start().await;
    let url = format!("{}?table_prefix=earlier_", fixture.server.url());
    let node = contender(&url, "upgrade", 1).await;
    let held = node.take(Claim::Vacant).await;
    for table in TABLES {
        fixture.sql(&format!("DROP TABLE earlier_{table}")).await;
    }
    for procedure in PROCEDURES {
        fixture.sql(&format!("DROP PROCEDURE earlier_{procedure}")).await;
    }
    fixture.sql("ALTER TABLE earlier_terms DROP COLUMN gap_at_most_ms").await;
    fixture.sql("ALTER TABLE earlier_meta DROP COLUMN lowest_compatible").await;
    fixture.sql("ALTER TABLE earlier_nodes DROP COLUMN partitions").await;
    // As it was: with an argument less, and of no use any more.
    fixture.sql("DROP PROCEDURE earlier_begin_term").await;
    fixture.sql("CREATE PROCEDURE earlier_begin_term(IN p_namespace INT) SELECT 1").await;
    fixture.sql("UPDATE earlier_meta SET schema_version = 1").await;

    let mut openings = tokio::task::JoinSet::new();
    for boot in 2..6 {
        let url = url.clone();
        openings
            .spawn(async move { held_in(&contender(&url, "upgrade", boot).await.look().await) });
    }
    assert_eq!(openings.join_all().await, vec![held; 4]);
    let version = fixture.sql("SELECT schema_version FROM earlier_meta").await;
    assert_eq!(version[0].get::<i64, _>(0), Some(5));
    // A handle of the time before goes on, and counts from now on.
    assert_eq!(count_once(&*node.store, &node.namespace, held.epoch).await, 1);
    assert_eq!(held_in(&node.look().await), held);
    let boot = node.boot();
    contender(&url, "upgrade", 6).await.take(Claim::Dead { boot }).await;
    let terms = node.store.history(&node.namespace, 5).await.expect("it can be read");
    let gaps: Vec<_> = terms.iter().map(|term| term.gap_at_most_ms.is_some()).collect();
    assert_eq!(gaps, [true, false]);
}
