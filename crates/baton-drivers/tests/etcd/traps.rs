//! What goes wrong with etcd if one does not see to it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::{Claim, Hint, Outcome};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{FindingLevel, HintStream, Store};
use baton_testbed::contender::{Contender, left, namespace};
use baton_testbed::wait::{PATIENCE, until};
use serde_json::Value;

use crate::fixture::{Etcd, open, space};

/// The shortest that etcd grants.
const TTL: Duration = Duration::from_secs(2);

fn contender(store: &Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Contender {
    Contender::new(store, namespace, boot).with_ttl(TTL)
}

/// Waits for this hint, past any other.
async fn hears(hints: &mut HintStream, wanted: &Hint) {
    let heard = async {
        while let Some(hint) = hints.recv().await {
            if hint == *wanted {
                return true;
            }
        }
        false
    };
    let heard = tokio::select! {
        heard = heard => heard,
        () = SystemClock.sleep(PATIENCE) => false,
    };
    assert!(heard, "waited in vain for {wanted:?}");
}

/// The etcd lease that the lease record names.
async fn lease_of(etcd: &Etcd, name: &str) -> i64 {
    let found = etcd.client().under(&format!("baton/{name}/lead/lease")).await;
    let record: Value = serde_json::from_slice(&found[0].1).expect("it is JSON");
    record["lease"].as_i64().expect("it names a lease")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_term_is_over_when_its_lease_is_and_not_before() {
    let etcd = Etcd::start().await;
    let store = open(&etcd.server.url()).await;
    a_deleted_holder_key_ends_the_term_and_lets_no_node_in_early(&etcd).await;
    a_holder_key_put_back_by_hand_keeps_nothing_alive(&etcd).await;
    every_renewal_has_a_lease_of_its_own(&etcd).await;
    a_deleted_lease_record_is_not_an_empty_namespace(&etcd).await;

    // A lease shorter than etcd grants is as long as etcd grants, and shown so.
    let node = contender(&store, &namespace("short"), 1).with_ttl(Duration::from_millis(300));
    node.take(Claim::Vacant).await;
    let seen = node.look().await;
    let asked = seen.lease.as_ref().map(|lease| lease.ttl);
    assert_eq!(asked, Some(node.ttl), "what was asked for");
    assert_eq!(left(&seen).as_secs_f64().ceil(), 2.0, "what was granted");
}

async fn a_deleted_holder_key_ends_the_term_and_lets_no_node_in_early(etcd: &Etcd) {
    let (store, space) = (open(&etcd.server.url()).await, namespace("deleted"));
    let (holder, rival) = (contender(&store, &space, 1), contender(&store, &space, 2));
    let mut hints = store.hints(&space).await.expect("etcd pushes");
    let held = holder.take(Claim::Vacant).await;
    let began = SystemClock.now();
    etcd.client().delete(&format!("{}lead/holder", self::space(&space))).await;
    hears(&mut hints, &Hint::Look).await;

    // The holder learns that its term is over; until its lease is, no other node may begin one.
    let reply = holder.renew(held).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Conflict));
    let early = rival.claim(Claim::Expired).await.expect("the store answers");
    assert_eq!(early.outcome, Some(Outcome::Conflict), "the holder may still trust its window");
    assert!(!left(&early).is_zero());
    let epoch = until("the lease to end", async || {
        let reply = rival.claim(Claim::Expired).await.expect("the store answers");
        (reply.outcome == Some(Outcome::Applied)).then(|| reply.lease.expect("taken").version.epoch)
    });
    assert_eq!(epoch.await, held.epoch.next());
    assert!(SystemClock.now().since(began) > TTL - Duration::from_millis(100));
}

async fn a_holder_key_put_back_by_hand_keeps_nothing_alive(etcd: &Etcd) {
    let (store, space) = (open(&etcd.server.url()).await, namespace("put-back"));
    let holder = contender(&store, &space, 1);
    let held = holder.take(Claim::Vacant).await;
    let prefix = self::space(&space);
    let key = format!("{prefix}lead/holder");
    let value = etcd.client().under(&key).await.remove(0).1;
    let mut hints = store.hints(&space).await.expect("etcd pushes");
    hears(&mut hints, &Hint::Look).await; // It ran out.
    etcd.client().put(&key, value).await;
    let late = holder.renew(held).await.expect("the store answers");
    assert_eq!(late.outcome, Some(Outcome::Conflict), "a key without a lease counts for nothing");
    assert!(left(&late).is_zero());
    contender(&store, &space, 2).take(Claim::Expired).await;
}

/// So that an etcd leader that was paused cannot revoke what was renewed meanwhile.
async fn every_renewal_has_a_lease_of_its_own(etcd: &Etcd) {
    let (store, space) = (open(&etcd.server.url()).await, namespace("own-lease"));
    let holder = contender(&store, &space, 1);
    let held = holder.take(Claim::Vacant).await;
    let first = lease_of(etcd, "own-lease").await;
    let renewed = holder.renew(held).await.expect("the store answers");
    let second = lease_of(etcd, "own-lease").await;
    assert_ne!(first, second);
    // A renewal that is refused prolongs nothing: it is still the same lease.
    let refused = holder.renew(held).await.expect("the store answers");
    assert_eq!(refused.outcome, Some(Outcome::Conflict));
    assert_eq!(lease_of(etcd, "own-lease").await, second);
    // The first one's end ends nothing.
    let answer = etcd.client().post("lease/revoke", format!(r#"{{"ID":"{first}"}}"#)).await;
    assert!(answer.get("header").is_some(), "{answer}");
    let version = renewed.lease.expect("held").version;
    let reply = holder.renew(version).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Applied));
}

/// The record itself was deleted: the term is over, and no node gets in beside its holder.
async fn a_deleted_lease_record_is_not_an_empty_namespace(etcd: &Etcd) {
    let (store, space) = (open(&etcd.server.url()).await, namespace("record-gone"));
    let (holder, rival) = (contender(&store, &space, 1), contender(&store, &space, 2));
    let held = holder.take(Claim::Vacant).await;
    etcd.client().delete(&format!("{}lead/lease", self::space(&space))).await;
    let reply = holder.renew(held).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Conflict), "a term without a record is over");
    for claim in [Claim::Vacant, Claim::Dead { boot: BootId(1) }] {
        let reply = rival.claim(claim).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Conflict), "its holder may still trust it");
    }
    until("the holder key to go", async || {
        let reply = rival.claim(Claim::Vacant).await.expect("the store answers");
        (reply.outcome == Some(Outcome::Applied)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_outlives_what_ends_it() {
    let etcd = Etcd::start().await;
    let (store, space) = (open(&etcd.server.url()).await, namespace("watched"));
    let holder = contender(&store, &space, 1);
    let mut hints = store.hints(&space).await.expect("etcd pushes");

    // An expiry is told when it happens.
    holder.take(Claim::Vacant).await;
    hears(&mut hints, &Hint::Look).await;
    assert!(left(&holder.look().await).is_zero());

    // A renewal is no news; no node is woken by it.
    let held = holder.take(Claim::Expired).await;
    let renewed = holder.renew(held).await.expect("the store answers");
    etcd.client().compact().await;
    let version = renewed.lease.expect("held").version;
    assert_eq!(holder.release(version).await, Outcome::Applied);
    let heard = hints.recv().await.expect("the release is told");
    assert!(matches!(heard, Hint::Released { .. }), "{heard:?}");

    // Stopped and started: the watch begins again, and says so.
    etcd.server.kill().await.expect("it is ours");
    etcd.server.start_again().await.expect("it starts");
    hears(&mut hints, &Hint::Look).await;
    etcd.client().compact().await;
    let held = until("the store to answer", async || {
        let reply = holder.claim(Claim::Vacant).await.ok()?;
        reply.lease.filter(|lease| lease.is_held_by(BootId(1)))
    });
    let version = held.await.version;
    assert_eq!(holder.release(version).await, Outcome::Applied);
    let nonce = holder.look().await.lease.expect("there is one").version.nonce;
    let released = baton_core::protocol::Version { nonce, ..version };
    hears(&mut hints, &Hint::Released { version: released, successor: None }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_went_back_is_read_anew_and_examined() {
    let etcd = Etcd::start().await;
    let store = open(&etcd.server.url()).await;
    let findings = store.examine().await.expect("etcd answers");
    let verdict = |check| findings.iter().find(|it| it.check == check).map(|it| it.verdict);
    assert_eq!(verdict("version"), Some(FindingLevel::Ok));
    assert_eq!(
        verdict("members"),
        Some(FindingLevel::Warn),
        "one member is a single point of failure"
    );
    assert_eq!(verdict("alarms"), Some(FindingLevel::Ok));
    assert_eq!(verdict("ttl"), Some(FindingLevel::Ok));
    assert!(findings.iter().all(|it| it.verdict != FindingLevel::Fail), "{findings:?}");

    let space = namespace("went-back");
    let node = contender(&store, &space, 1);
    let held = node.take(Claim::Vacant).await;
    let version = node.renew(held).await.expect("answers").lease.expect("held").version;
    // Another cluster, at a lower revision, with an older record under the same keys.
    let older = etcd.client().under(&self::space(&space)).await;
    etcd.server.stop().await.expect("it is ours");
    let data = etcd.server.folder().expect("it is ours").join("data");
    std::fs::remove_dir_all(data).expect("it is there");
    etcd.server.start_again().await.expect("it starts anew");
    for (key, value) in older.iter().filter(|(key, _)| !key.contains("lead/holder")) {
        etcd.client().put(key, value).await;
    }
    let seen = until("the store to answer", async || {
        node.beat(baton_core::protocol::LeaseIntent::Observe).await.ok()
    });
    let seen = seen.await;
    assert_eq!(seen.lease.as_ref().expect("it was restored").version, version);
    assert!(left(&seen).is_zero(), "its etcd lease did not come back with it");
    let reply = node.renew(version).await.expect("the store answers");
    assert_eq!(reply.outcome, Some(Outcome::Conflict));
    assert_eq!(node.take(Claim::Expired).await.epoch, version.epoch.next());
}
