//! The least rights that docs/stores/postgres.md lists are enough, and fewer are told.

use baton_core::protocol::{Claim, Outcome};
use baton_store::{FindingLevel, Precondition, WriteOutcome};
use baton_testbed::contender::{Contender, held_in, namespace};
use baton_testbed::counting::count_once;

use crate::fixture::Postgres;

const PAGE: &str = include_str!("../../../../docs/stores/postgres.md");

/// The statements of the page, for the user `app`.
fn grants() -> String {
    let after = PAGE.split("```sql\n").nth(1).expect("the page lists them");
    after.split("```").next().expect("the list ends").to_owned()
}

#[tokio::test]
async fn the_grants_of_the_page_are_enough() {
    let fixture = Postgres::start().await;
    fixture
        .sql("CREATE ROLE app LOGIN; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
        .await;
    fixture.sql("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC").await;
    let url = fixture.server.url().replace("postgres@", "app@");

    let refused = baton_drivers::open(&url).await.expect_err("there is no schema").to_string();
    assert!(refused.contains("baton's schema (tables public.baton_*) is missing"), "{refused}");
    assert!(refused.contains("open the store once as one who may create tables"), "{refused}");
    drop(fixture.open().await);
    let refused = baton_drivers::open(&url).await.expect_err("nothing is granted").to_string();
    assert!(refused.contains("may not read public.baton_meta"), "{refused}");
    fixture.sql(&grants()).await;
    fixture.sql("REVOKE UPDATE ON baton_locks FROM app").await;
    let refused = baton_drivers::open(&url).await.expect_err("one is missing").to_string();
    assert!(refused.contains("(UPDATE on public.baton_locks is missing)"), "{refused}");
    fixture.sql(&grants()).await;

    let store = baton_drivers::open(&url).await.expect("that is enough");
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    let mut hints = store.hints(&web).await.expect("it pushes");
    let held = node.take(Claim::Vacant).await;
    let wrote = store.write_document(&web, "d", vec![1], Precondition::Any, Some(held.epoch)).await;
    assert_eq!(wrote, Ok(WriteOutcome::Written(1)));
    assert_eq!(count_once(&*store, &web, held.epoch).await, 1);
    let seen = node.look().await;
    let renewed = node.renew(held_in(&seen)).await.expect("it is answered");
    let held = renewed.lease.expect("it is held").version;
    assert_eq!(node.release(held).await, Outcome::Applied);
    assert!(hints.recv().await.is_some());
    assert_eq!(store.history(&web, 5).await.map(|terms| terms.len()), Ok(1));
    assert_eq!(store.leave(&web, &node.record.id, node.record.boot).await, Ok(Outcome::Applied));
    fixture.sql("UPDATE baton_meta SET identity = 'elsewhere'").await;
    assert!(store.inspect(&web).await.expect("it is answered").lineage > seen.lineage);
    let findings = store.examine().await.expect("it is answered");
    let rights = findings.iter().find(|finding| finding.check == "rights");
    assert_eq!(rights.map(|finding| finding.verdict), Some(FindingLevel::Ok), "{findings:?}");
    let durability = findings.iter().find(|finding| finding.check == "durability");
    assert_eq!(
        durability.map(|finding| finding.verdict),
        Some(FindingLevel::Warn),
        "fsync is off here"
    );
}

#[tokio::test]
async fn many_may_open_a_new_database_at_once_and_prefixes_do_not_meet() {
    let fixture = Postgres::start().await;
    let url = format!("{}?schema=ops&table_prefix=helix_&timeout_ms=10000", fixture.server.url());
    let mut openings = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = url.clone();
        openings.spawn(async move { baton_drivers::open(&url).await.map_err(|e| e.to_string()) });
    }
    let web = namespace("web");
    for opened in openings.join_all().await {
        opened.expect("it is made once").inspect(&web).await.expect("it is answered");
    }
    let store = baton_drivers::open(&url).await.expect("it is there");
    Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    assert_eq!(fixture.sql("SELECT lock_key FROM ops.helix_locks").await, ["web"]);
    Contender::new(&fixture.open().await, &web, 1).take(Claim::Vacant).await;
}
