//! What is known to go wrong on PostgreSQL, and does not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, NodeProfile, Outcome};
use baton_store::{Precondition, StoreError, WriteOutcome};
use baton_testbed::contender::{Contender, held_in, left, namespace};
use baton_testbed::wait::until;

use crate::fixture::{Postgres, Session};

#[tokio::test]
async fn a_users_open_transaction_blocks_neither_renewal_nor_acquisition() {
    let fixture = Postgres::start().await;
    let (store, web) = (fixture.open().await, namespace("web"));
    let first = Contender::new(&store, &web, 1);
    first.take(Claim::Vacant).await;
    let user = Session::open(&fixture.server.url()).await;
    user.run("BEGIN; SELECT baton_fence('invoices', 1)").await.expect("it is admitted");

    let seen = first.look().await;
    let renewed = first.renew(held_in(&seen)).await.expect("it is answered");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
    let held = renewed.lease.expect("it was just renewed").version;
    assert_eq!(first.release(held).await, Outcome::Applied);
    let second = Contender::new(&store, &web, 2);
    assert_eq!(second.take(Claim::Vacant).await.epoch, Epoch(2));
    let fence = Some(Epoch(2));
    let wrote = store.write_document(&web, "d", vec![1], Precondition::Any, fence).await;
    assert_eq!(wrote, Ok(WriteOutcome::Written(1)));
    let gone = fixture.sql("SELECT count(*) FROM pg_locks WHERE NOT granted").await;
    assert_eq!(gone, ["0"], "no transaction waits");
}

#[tokio::test]
async fn a_renewal_that_waited_is_judged_by_the_time_it_got_its_turn() {
    let fixture = Postgres::start().await;
    let web = namespace("web");
    let onlooker = Contender::new(&fixture.open().await, &web, 2);
    // So patient that the lease is over long before the wait is.
    let url = format!("{}?timeout_ms=60000", fixture.server.url());
    let store = baton_drivers::open(&url).await.expect("the server answers");
    let node = Contender::new(&store, &web, 1).with_ttl(Duration::from_secs(3));
    node.take(Claim::Vacant).await;
    let seen = node.look().await;
    let blocker = Session::open(&fixture.server.url()).await;
    blocker.run("BEGIN; SELECT 1 FROM baton_locks FOR UPDATE").await.expect("it is there");
    let (renewed, ()) = tokio::join!(node.renew(held_in(&seen)), async {
        let waits = || async {
            let found = fixture.sql("SELECT 1 FROM pg_locks WHERE NOT granted").await;
            (!found.is_empty()).then_some(())
        };
        until("the renewal waits", waits).await;
        let over = async || left(&onlooker.look().await).is_zero().then_some(());
        until("the lease to run out by the server's clock", over).await;
        blocker.run("ROLLBACK").await.expect("it goes on");
    });
    let reply = renewed.expect("it got its turn");
    assert_eq!(reply.outcome, Some(Outcome::Conflict), "it had expired when its turn came");
}

/// What the server undid was certainly not done, and is told as that; what a person must mend, too.
#[tokio::test]
async fn an_error_of_the_servers_is_told_by_what_to_do() {
    let fixture = Postgres::start().await;
    drop(fixture.open().await);
    let url = format!("{}?timeout_ms=600", fixture.server.url());
    let store = baton_drivers::open(&url).await.expect("the server answers");
    let node = Contender::new(&store, &namespace("web"), 1);
    node.take(Claim::Vacant).await;
    let seen = node.look().await;
    let blocker = Session::open(&fixture.server.url()).await;
    blocker.run("BEGIN; SELECT 1 FROM baton_locks FOR UPDATE").await.expect("it is there");
    let late = node.renew(held_in(&seen)).await.expect_err("another node has it");
    assert!(matches!(late, StoreError::Unavailable { .. }), "{late:?}");
    assert_eq!(node.look().await.lease.map(|lease| lease.version), seen.lease.map(|it| it.version));
    blocker.run("ROLLBACK; ALTER FUNCTION baton_renew RENAME TO gone").await.expect("it can");
    let seen = node.look().await;
    let refused = node.renew(held_in(&seen)).await.expect_err("a function is missing");
    assert!(refused.to_string().contains("open the store once as the owner"), "{refused}");
}

#[tokio::test]
async fn no_setting_of_a_role_changes_what_a_step_does() {
    let fixture = Postgres::start().await;
    fixture.sql("CREATE ROLE odd LOGIN SUPERUSER").await;
    let settings = [
        "synchronous_commit TO off",
        "default_transaction_isolation TO serializable",
        "search_path TO pg_temp, odd",
        "timezone TO 'Asia/Kathmandu'",
        "datestyle TO 'German'",
        "intervalstyle TO 'iso_8601'",
        "extra_float_digits TO -15",
        "bytea_output TO escape",
    ];
    for setting in settings {
        fixture.sql(&format!("ALTER ROLE odd SET {setting}")).await;
    }
    let url = fixture.server.url().replace("postgres@", "odd@");
    let odd = baton_drivers::open(&url).await.expect("it may come in");
    let web = namespace("web");
    let node = Contender::new(&odd, &web, 1);
    let before = fixture.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").await;
    let held = node.take(Claim::Vacant).await;
    let seen = node.look().await;
    let renewed = node.renew(held_in(&seen)).await.expect("it is answered");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
    let last = renewed.lease.expect("it was just renewed").version;
    assert_eq!(node.release(last).await, Outcome::Applied);
    let terms = node.store.history(&web, 1).await.expect("it is answered");
    let before: u64 = before[0].parse().expect("a number");
    assert!((before..before + 20_000).contains(&terms[0].began_ms), "{terms:?}");
    assert_eq!(terms[0].epoch, held.epoch);

    // An acknowledged grant outlasts a crash, whatever the session said.
    let session = Session::open(&url).await;
    let level =
        session.run("BEGIN; SELECT public.baton_settle(0, '0/0', false); SHOW synchronous_commit");
    assert_eq!(level.await.expect("it is there").last().map(String::as_str), Some("on"));
}

#[tokio::test]
async fn numbers_and_names_have_no_edge_to_fall_over() {
    let fixture = Postgres::start().await;
    let (store, web) = (fixture.open().await, namespace("web"));
    let mut node = Contender::new(&store, &web, u128::MAX);
    let labels = BTreeMap::from([("zone\0".to_owned(), "ü\u{1F600}\\u0000".to_owned())]);
    node.record.profile = Arc::new(NodeProfile { labels, ..NodeProfile::default() });
    (node.record.beat, node.record.seen) = (u64::MAX, Epoch::MAX);
    node.floor = Epoch(Epoch::MAX.0 - 1);
    assert_eq!(node.take(Claim::Vacant).await.epoch, Epoch::MAX);
    let members = store.members(&web).await.expect("it is answered");
    assert_eq!(members[0].record, node.record);
    node.ttl = Duration::MAX;
    let seen = node.look().await;
    let renewed = node.renew(held_in(&seen)).await.expect("it is answered");
    assert_eq!(renewed.outcome, Some(Outcome::Applied), "no end is still an end");

    for name in ["", "a\0b", "a", "A", "ä", "a "] {
        let body = name.as_bytes().to_vec();
        let fence = Some(Epoch::MAX);
        let wrote = store.write_document(&web, name, body.clone(), Precondition::Absent, fence);
        assert_eq!(wrote.await, Ok(WriteOutcome::Written(1)), "{name:?}");
        let read = store.read_document(&web, name).await.expect("it is answered");
        assert_eq!(read.map(|read| read.body), Some(body));
    }
}
