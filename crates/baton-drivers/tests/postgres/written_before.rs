//! A store that an earlier version wrote is opened by this one, and nothing is lost.

use baton_core::protocol::Claim;
use baton_drivers::fences;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::written_before::{self, LAST, RESOURCE, space};

use crate::fixture::Postgres;

#[tokio::test]
async fn a_store_of_an_earlier_version_loses_nothing() {
    let fixture = Postgres::start().await;
    fixture.sql(include_str!("../fixtures/postgres.sql")).await;
    let url = fixture.server.url();
    let stored = fences::list(&url, &space()).await.expect("the server answers");
    let stored: Vec<_> = stored.iter().map(|it| (it.resource.as_str(), it.epoch)).collect();
    assert_eq!(stored, [(RESOURCE, LAST)]);
    written_before::check(&fixture.open().await).await;
    let functions = "SELECT prosrc LIKE '%MATERIALIZED%' FROM pg_proc \
                     WHERE proname = 'baton_forget_writers'";
    assert_eq!(fixture.sql(functions).await, ["t"], "a function is today's");
}

/// During a deploy: programs of version 5 go on with what they know.
#[tokio::test]
async fn a_program_of_version_5_can_use_the_schema() {
    let fixture = Postgres::start().await;
    let store = fixture.open().await;
    written_before::fill(&store).await;
    let versions = "SELECT schema_version || ' ' || lowest_compatible FROM baton_meta";
    assert_eq!(fixture.sql(versions).await, ["6 5"]);
    let write = async |name: &str, precondition: &str, fence: &str| {
        let call = format!(
            "SELECT baton_write_document('web', 0, '0/0', '{name}', 'x', '{precondition}', {fence})"
        );
        fixture.sql(&call).await
    };
    assert_eq!(write("settings", "{\"version\": 2}", "2").await, ["{\"written\": 3}"]);
    assert_eq!(write("settings", "{\"version\": 2}", "2").await, ["{\"conflict\": 3}"]);
    assert_eq!(write("settings", "\"absent\"", "NULL").await, ["{\"conflict\": 3}"]);
    assert_eq!(write("new", "\"absent\"", "NULL").await, ["{\"written\": 1}"]);
    assert_eq!(write("new", "\"any\"", "1").await, ["\"fenced\""]);
    let found = store.read_document(&space(), "settings").await.expect("the server answers");
    assert_eq!(found.map(|document| document.body), Some(b"x".to_vec()));
}

/// The fixture holds what `fill` writes, and today's version writes no less.
#[tokio::test]
async fn a_store_of_this_version_passes_the_same_check() {
    let fixture = Postgres::start().await;
    let store = fixture.open().await;
    written_before::fill(&store).await;
    written_before::check(&store).await;
}

/// A deploy was rolled back: the schema is of a later version, and one of its functions was
/// changed.
#[tokio::test]
async fn a_later_schema_is_used_if_it_allows_this_program_and_refused_if_not() {
    let fixture = Postgres::start().await;
    written_before::fill(&fixture.open().await).await;
    let later = "CREATE OR REPLACE FUNCTION baton_ms(at timestamptz) RETURNS numeric LANGUAGE sql \
        STABLE AS 'SELECT /* of version 9 */ floor(date_part(''epoch'', at) * 1000)::numeric'; \
        ALTER TABLE baton_nodes ADD COLUMN colour text; \
        UPDATE baton_meta SET schema_version = 9, lowest_compatible = 5";
    fixture.sql(later).await;
    let store = fixture.open().await;
    let node = Contender::new(&store, &namespace("other"), 1);
    let held = node.take(Claim::Vacant).await;
    node.goes_on(held).await;
    written_before::check(&store).await;
    let kept = "SELECT count(*) FROM pg_proc WHERE prosrc LIKE '%of version 9%'";
    assert_eq!(fixture.sql(kept).await, ["1"], "no function was made anew");
    let versions = "SELECT schema_version || ' ' || lowest_compatible FROM baton_meta";
    assert_eq!(fixture.sql(versions).await, ["9 5"]);
    let url = fixture.server.url();
    drop(baton_drivers::open_to_read(&url).await.expect("it may be read too"));

    fixture.sql("UPDATE baton_meta SET lowest_compatible = 7").await;
    let wanted = "has schema version 9, which needs a program that knows version 7 or later, and \
                  this program knows 6; use a newer version of it";
    for refused in [baton_drivers::open(&url).await, baton_drivers::open_to_read(&url).await] {
        let refused = refused.expect_err("it needs a later program").to_string();
        assert!(refused.ends_with(wanted), "{refused}");
    }
}
