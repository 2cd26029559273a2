//! A schema of an earlier version is brought up to date, with all that is in it.

use baton_core::protocol::Claim;
use baton_testbed::contender::{Contender, held_in, namespace};
use baton_testbed::counting::count_once;

use crate::fixture::Postgres;

/// What later versions added.
const BACK: &str = "ALTER TABLE baton_meta DROP COLUMN hint_secret; DROP FUNCTION baton_secret; \
    DROP TABLE baton_counters, baton_counter_deltas, baton_counter_writers; \
    DROP FUNCTION baton_append_deltas, baton_counter_values, baton_consolidate, \
                  baton_forget_writers, baton_clamped; \
    ALTER TABLE baton_terms DROP COLUMN gap_at_most_ms; \
    ALTER TABLE baton_meta DROP COLUMN lowest_compatible; DROP FUNCTION baton_is_fenced_off; \
    ALTER TABLE baton_nodes DROP COLUMN partitions; DROP FUNCTION baton_write_documents; \
    DROP FUNCTION baton_begin_term; \
    CREATE FUNCTION baton_begin_term(text, timestamptz, numeric, jsonb, bigint, jsonb) \
        RETURNS void LANGUAGE sql AS ''; \
    UPDATE baton_meta SET schema_version = 1";

#[tokio::test]
async fn the_first_version_is_added_to_by_a_user_who_may_and_loses_nothing() {
    let fixture = Postgres::start().await;
    let web = namespace("web");
    let store = fixture.open().await;
    let node = Contender::new(&store, &web, 1);
    let held = node.take(Claim::Vacant).await;
    fixture.sql(BACK).await;

    fixture.sql("CREATE ROLE app LOGIN; GRANT SELECT ON baton_meta TO app").await;
    let app = fixture.server.url().replace("postgres@", "app@");
    let refused = baton_drivers::open(&app).await.expect_err("it may not").to_string();
    let wanted = "version 6 of baton's schema (tables public.baton_*), which is at 1, is missing; \
                  this user may not make it";
    assert!(refused.contains(wanted), "{refused}");

    let mut openings = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let url = format!("{}?timeout_ms=10000", fixture.server.url());
        openings.spawn(async move { baton_drivers::open(&url).await.map_err(|e| e.to_string()) });
    }
    for opened in openings.join_all().await {
        let opened = opened.expect("it is upgraded once");
        assert_eq!(held_in(&Contender::new(&opened, &web, 2).look().await), held);
    }
    assert_eq!(fixture.sql("SELECT schema_version FROM baton_meta").await, ["6"]);
    // A handle of the time before goes on, and counts from now on.
    assert_eq!(count_once(&*store, &web, held.epoch).await, 1);
    assert_eq!(held_in(&node.look().await), held);
    let terms = store.history(&web, 5).await.expect("it can be read");
    assert_eq!(terms.iter().map(|term| term.gap_at_most_ms).collect::<Vec<_>>(), [None]);
    let (boot, next) = (node.boot(), Contender::new(&store, &web, 3));
    next.take(Claim::Dead { boot }).await;
    let terms = store.history(&web, 5).await.expect("it can be read");
    assert!(terms[0].gap_at_most_ms.is_some(), "{terms:?}");
}
