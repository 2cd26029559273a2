//! What is known to go wrong on Redis, and does not go wrong here.

use std::sync::Arc;

use baton_core::ids::{Epoch, Lineage};
use baton_core::protocol::{Claim, Outcome, View, ViewVersion};
use baton_store::{Precondition, StoreError, WriteOutcome};
use baton_testbed::contender::{Contender, namespace};

use crate::fixture::{client, copied, follow, key, open, run, server};

#[tokio::test]
async fn a_token_drawn_outside_the_script_inverts_and_ours_does_not() {
    let server = server(&[]).await;
    let mut one = client(&server).await;
    let mut other = client(&server).await;
    // The naive way: draw a number, then take the lock. The client that drew first may lock last.
    let incr = redis::cmd("INCR").arg("token").take();
    let early: u64 = incr.query_async(&mut one).await.expect("it counts");
    let late: u64 = incr.query_async(&mut other).await.expect("it counts");
    let mut holders = Vec::new();
    for (connection, token) in [(&mut other, late), (&mut one, early)] {
        let set = redis::cmd("SET").arg("lock").arg(token).arg("NX").take();
        let _: () = set.query_async(connection).await.expect("the lock is free");
        let _: u64 = redis::cmd("DEL").arg("lock").query_async(connection).await.expect("it goes");
        holders.push(token);
    }
    assert_eq!(holders, [2, 1], "the later holder has the lower token");

    // Ours: the epoch is drawn in the step that grants. The one that looked first is refused.
    let store = open(&server.url()).await;
    let web = namespace("web");
    let (one, other) = (Contender::new(&store, &web, 1), Contender::new(&store, &web, 2));
    let early = one.look().await;
    let first = other.take(Claim::Vacant).await;
    other.release(first).await;
    let refused = one.claim_on(&early, Claim::Vacant).await.expect("the store answers");
    assert_eq!(refused.outcome, Some(Outcome::Conflict));
    assert!(one.take(Claim::Vacant).await.epoch > first.epoch);
}

#[tokio::test]
async fn numbers_of_64_bits_lose_none() {
    let server = server(&[]).await;
    let beyond = (1_u64 << 53) + 1;
    let naive = "return string.format('%.0f', tonumber(ARGV[1]))";
    let doubled: u64 = run(&server, &["EVAL", naive, "0", &beyond.to_string()]).await;
    assert_ne!(doubled, beyond, "a Lua number is a double");

    let store = open(&server.url()).await;
    let floors = [999_999_999_998, 999_999_999_999, beyond - 1, beyond, Epoch::MAX.0 - 2];
    for (at, floor) in floors.into_iter().enumerate() {
        let web = namespace(&format!("web-{at}"));
        let mut node = Contender::new(&store, &web, u128::MAX);
        node.floor = Epoch(floor);
        let taken = node.take(Claim::Vacant).await;
        assert_eq!(taken.epoch, Epoch(floor).next());
        node.release(taken).await;
        node.floor = Epoch::NONE;
        let next = node.take(Claim::Vacant).await.epoch;
        assert_eq!(next, Epoch(floor).next().next(), "it loses no bit");

        let write = |fence| store.write_document(&web, "d", vec![], Precondition::Any, Some(fence));
        assert_eq!(write(next).await, Ok(WriteOutcome::Written(1)));
        assert_eq!(write(Epoch(next.0 - 1)).await, Ok(WriteOutcome::Fenced));
        for (number, outcome) in [
            (beyond, Outcome::Applied),
            (beyond - 1, Outcome::Conflict),
            (u64::MAX, Outcome::Applied),
        ] {
            let version = ViewVersion { epoch: next, number };
            let coordinator = baton_core::ids::NodeId::new("a").expect("it is a name");
            let view =
                View { version, coordinator, members: vec![], successors: vec![], certain: 0 };
            assert_eq!(store.publish_view(&web, next, Arc::new(view)).await, Ok(outcome));
        }
    }
}

#[tokio::test]
async fn nothing_has_a_time_to_live_and_a_lease_that_vanishes_takes_no_epoch_with_it() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    let held = node.take(Claim::Vacant).await;
    node.release(held).await;
    let held = node.take(Claim::Vacant).await;
    let written = store.write_document(&web, "d", vec![1], Precondition::Any, None).await;
    assert_eq!(written, Ok(WriteOutcome::Written(1)));
    for name in ["meta", "lease", "nodes", "documents", "terms"] {
        let left: i64 = run(&server, &["PTTL", &key(&web, name)]).await;
        assert_eq!(left, -1, "{name}: -1 is a key that stays");
    }
    let before = node.look().await;
    let _: u64 = run(&server, &["DEL", &key(&web, "lease")]).await;
    // A handle that never saw the lease notices too.
    let other = Contender::new(&open(&server.url()).await, &web, 2);
    let after = other.look().await;
    assert!(after.lineage > before.lineage && after.lease.is_none(), "{after:?}");
    assert!(other.take(Claim::Vacant).await.epoch > held.epoch);
}

#[tokio::test]
async fn a_flush_while_it_is_held_moves_the_lineage_and_epochs_leap() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    let held = node.take(Claim::Vacant).await;
    let before = node.look().await;
    let _: () = run(&server, &["FLUSHALL"]).await;
    let shown = store.inspect(&web).await.expect("it answers");
    assert!(shown.lineage > before.lineage, "an onlooker is shown that it moved: {shown:?}");
    let renewed = node.renew(held).await.expect("it answers");
    assert_eq!((renewed.outcome, &renewed.lease), (Some(Outcome::Conflict), &None));
    assert!(renewed.lineage > before.lineage, "{renewed:?}");
    let next = node.take(Claim::Vacant).await.epoch;
    // Nothing is left of the namespace: the leap is counted from nothing.
    assert!(next > held.epoch && next.0 > Epoch::LEAP, "{next:?} has not leapt");
}

#[tokio::test]
async fn a_lease_key_of_ones_own_serves_one_namespace() {
    let server = server(&[]).await;
    let url = |options: &str| format!("{}?{options}", server.url());
    let own = "prefix=orchestrix:&lease_key=orchestrix:coordinator:leader";
    let store = open(&url(own)).await;
    let (web, other) = (namespace("web"), namespace("other"));
    let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    let kept: u64 = run(&server, &["HGET", "orchestrix:coordinator:leader", "epoch"]).await;
    assert_eq!(Epoch(kept), held.epoch);
    let refused = Contender::new(&store, &other, 1).try_look().await;
    let refused = refused.expect_err("the lease is another namespace's").to_string();
    assert!(refused.contains("namespace \"web\"; put {namespace} into lease_key"), "{refused}");
    let store = open(&url("lease_key=leader:{namespace}")).await;
    for space in [&web, &other] {
        Contender::new(&store, space, 1).take(Claim::Vacant).await;
    }
    let keys: Vec<String> = run(&server, &["KEYS", "leader:*"]).await;
    assert_eq!(keys.len(), 2, "{keys:?}");
}

#[tokio::test]
async fn a_later_schema_is_used_if_it_allows_this_program() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let web = namespace("web");
    let meta = key(&web, "meta");
    let node = Contender::new(&store, &web, 1);
    let held = node.take(Claim::Vacant).await;
    let _: i64 = run(&server, &["HSET", &meta, "schema", "9"]).await;
    let held = node.goes_on(held).await;
    // What is written anew stays of the later version.
    let _: u64 = run(&server, &["HDEL", &meta, "replid"]).await;
    node.goes_on(held).await;
    let kept: (String, String, Option<String>) =
        run(&server, &["HMGET", &meta, "schema", "compatible", "replid"]).await;
    assert_eq!((kept.0.as_str(), kept.1.as_str(), kept.2.is_some()), ("9", "1", true));

    for (change, needed) in
        [(["HSET", &meta, "compatible", "2"].as_slice(), 2), (&["HDEL", &meta, "compatible"], 9)]
    {
        let _: i64 = run(&server, change).await;
        let refused = node.try_look().await.expect_err("it needs a later program");
        let wanted = format!(
            "the namespace has schema version 9, which needs a program that knows version {needed} \
             or later, and this program knows 1; use a newer version of it"
        );
        assert_eq!(refused, StoreError::Refused { detail: wanted });
    }
}

#[tokio::test]
async fn a_key_of_another_type_is_left_alone() {
    let server = server(&[]).await;
    let store = open(&server.url()).await;
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    node.take(Claim::Vacant).await;
    for name in ["lease", "nodes", "view", "terms"] {
        let _: () = run(&server, &["SET", &key(&web, name), "something else"]).await;
        let seen =
            Contender::new(&open(&server.url()).await, &namespace("elsewhere"), 1).look().await;
        let found = node.claim_on(&seen, Claim::Vacant).await;
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{name}: {found:?}");
        let _: u64 = run(&server, &["DEL", &key(&web, name)]).await;
    }
}

#[tokio::test]
async fn a_promoted_replica_goes_on_with_the_epochs() {
    let at_once = ["--repl-diskless-sync-delay", "0"];
    let (first, second) = (server(&at_once).await, server(&at_once).await);
    follow(&second, &first).await;
    let refused = baton_drivers::open(&second.url()).await.expect_err("it is a replica");
    assert!(refused.to_string().contains("it is a replica; name its master"), "{refused}");

    let url = format!("redis://{},{}", second.address(), first.address());
    let store = open(&url).await;
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    let held = node.take(Claim::Vacant).await;
    node.release(held).await;
    let before: Lineage = node.look().await.lineage;
    copied(&first).await;
    first.kill().await.expect("it is ours");
    let unreachable = node.try_look().await;
    assert!(unreachable.is_err(), "there is no master: {unreachable:?}");
    let _: () = run(&second, &["REPLICAOF", "NO", "ONE"]).await;
    let next = node.take(Claim::Vacant).await;
    assert!(node.look().await.lineage > before, "another server, another lineage");
    assert!(next.epoch.0 > held.epoch.0 + Epoch::LEAP, "{next:?}");
}
