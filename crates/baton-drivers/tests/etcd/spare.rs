//! The lease that the first in line has ready: it is used, replaced, and never relied upon.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::protocol::{Claim, Failure, Hint, Outcome, View, ViewVersion};
use baton_store::{Precondition, WriteOutcome};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::proxy::Proxy;
use baton_testbed::wait::until;
use serde_json::Value;

use crate::fixture::{Etcd, open};

const TTL: Duration = Duration::from_secs(60);

/// Every etcd lease there is: its id, and how long it was granted.
async fn leases(etcd: &Etcd) -> Vec<(String, String)> {
    let answer = etcd.client().post("lease/leases", "{}".to_owned()).await;
    let mut leases = Vec::new();
    for lease in answer["leases"].as_array().cloned().unwrap_or_default() {
        let id = lease["ID"].as_str().expect("it has one").to_owned();
        let told = etcd.client().post("lease/timetolive", format!(r#"{{"ID":"{id}"}}"#)).await;
        leases.push((id, told["grantedTTL"].as_str().unwrap_or_default().to_owned()));
    }
    leases
}

/// Waits for the spare of the first in line.
async fn spare(etcd: &Etcd) -> String {
    let twice = (TTL * 2).as_secs().to_string();
    until("a spare", async || {
        let found = leases(etcd).await.into_iter().find(|(_, granted)| *granted == twice);
        found.map(|(id, _)| id)
    })
    .await
}

/// The etcd lease that the lease record names, and how long it was granted.
async fn named(etcd: &Etcd, space: &str) -> (String, Option<u64>) {
    let found = etcd.client().under(&format!("baton/{space}/lead/lease")).await;
    let record: Value = serde_json::from_slice(&found[0].1).expect("it is JSON");
    (record["lease"].to_string(), record["granted"]["secs"].as_u64())
}

/// Takes the lease, and says who comes next.
async fn lead(holder: &Contender, successors: Vec<NodeId>) {
    let epoch = holder.take(Claim::Vacant).await.epoch;
    let view = Arc::new(View {
        version: ViewVersion { epoch, number: 1 },
        coordinator: holder.id(),
        members: vec![],
        successors,
        certain: 0,
    });
    let published = holder.store.publish_view(&holder.namespace, epoch, view).await;
    assert_eq!(published, Ok(Outcome::Applied));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_takeover_by_the_first_in_line_is_one_request() {
    let etcd = Etcd::start().await;
    let proxy = Proxy::to(etcd.server.address()).await;
    let space = namespace("line");
    let holder = Contender::new(&open(&etcd.server.url()).await, &space, 1).with_ttl(TTL);
    let behind = open(&etcd.server.url_at(proxy.address())).await;
    let first = Contender::new(&behind, &space, 2).with_ttl(TTL);
    lead(&holder, vec![first.id()]).await;
    let seen = first.look().await;
    let spare = spare(&etcd).await;

    let before = proxy.counts().round_trips;
    let reply = first.claim_on(&seen, Claim::Dead { boot: holder.boot() }).await;
    assert_eq!(reply.expect("the store answers").outcome, Some(Outcome::Applied));
    // And afterwards, two more: a lease as long as it asked for, and the record that names it.
    until("a lease of its own", async || (named(&etcd, "line").await.0 != spare).then_some(()))
        .await;
    assert_eq!(named(&etcd, "line").await.1, Some(60));
    assert_eq!(proxy.counts().round_trips - before, 3);

    // The spare keeps nothing alive, and its end ends nothing.
    let answer = etcd.client().post("lease/revoke", format!(r#"{{"ID":"{spare}"}}"#)).await;
    assert!(answer.get("header").is_some(), "{answer}");
    let held = first.look().await.lease.expect("it is held").version;
    first.goes_on(held).await;
}

/// What the watch has told need not be looked up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_was_heard_is_taken_up_in_one_request() {
    let etcd = Etcd::start().await;
    let proxy = Proxy::to(etcd.server.address()).await;
    let space = namespace("heard");
    let holder = Contender::new(&open(&etcd.server.url()).await, &space, 1).with_ttl(TTL);
    let behind = open(&etcd.server.url_at(proxy.address())).await;
    let first = Contender::new(&behind, &space, 2).with_ttl(TTL);
    lead(&holder, vec![first.id()]).await;
    let mut seen = first.look().await;
    spare(&etcd).await;
    let mut hints = behind.hints(&space).await.expect("etcd pushes");
    // The holder goes on, and raises the fence, after the last look of the first in line.
    let held = holder.look().await.lease.expect("it is held").version;
    let held = holder.goes_on(held).await;
    let any = Precondition::Any;
    let written = holder.store.write_document(&space, "d", b"x".to_vec(), any, Some(held.epoch));
    assert_eq!(written.await, Ok(WriteOutcome::Written(1)));
    assert_eq!(holder.release(held).await, Outcome::Applied);
    let released = until("the release", async || match hints.recv().await {
        Some(Hint::Released { version, .. }) => Some(version),
        _ => None,
    });
    let version = released.await;

    let before = proxy.counts().round_trips;
    seen.lease.as_mut().expect("it was held").version = version;
    let reply = first.claim_on(&seen, Claim::Vacant).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Applied));
    until("a lease of its own", async || (named(&etcd, "heard").await.1 == Some(60)).then_some(()))
        .await;
    assert_eq!(proxy.counts().round_trips - before, 3, "one, and two afterwards");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spare_that_is_gone_costs_one_attempt() {
    let etcd = Etcd::start().await;
    let space = namespace("revoked");
    let holder = Contender::new(&open(&etcd.server.url()).await, &space, 1).with_ttl(TTL);
    let first = Contender::new(&open(&etcd.server.url()).await, &space, 2).with_ttl(TTL);
    lead(&holder, vec![first.id()]).await;
    let seen = first.look().await;
    let spare = spare(&etcd).await;
    let answer = etcd.client().post("lease/revoke", format!(r#"{{"ID":"{spare}"}}"#)).await;
    assert!(answer.get("header").is_some(), "{answer}");

    let claim = Claim::Dead { boot: holder.boot() };
    let failed = first.claim_on(&seen, claim).await.expect_err("the spare is gone");
    assert_eq!(failed.failure(), Failure::NotDone, "{failed}");
    let reply = first.claim_on(&seen, claim).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Applied));
}

/// A second in line has nothing ready, nor has the holder itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_first_in_line_has_a_spare() {
    const LOOKS: u64 = 20;
    let etcd = Etcd::start().await;
    let proxy = Proxy::to(etcd.server.address()).await;
    let space = namespace("second");
    let holder = Contender::new(&open(&etcd.server.url()).await, &space, 1).with_ttl(TTL);
    let behind = open(&etcd.server.url_at(proxy.address())).await;
    let second = Contender::new(&behind, &space, 2).with_ttl(TTL);
    let first = Contender::new(&behind, &space, 3).with_ttl(TTL);
    lead(&holder, vec![first.id(), second.id()]).await;
    second.look().await;
    let before = proxy.counts().round_trips;
    for _ in 0..LOOKS {
        second.look().await;
    }
    assert_eq!(proxy.counts().round_trips - before, LOOKS);
    assert_eq!(leases(&etcd).await.len(), 1, "the holder's own");
    first.look().await;
    spare(&etcd).await;
}
