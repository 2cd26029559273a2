//! Servers killed, paused and cut off: the handle is never opened again.

use std::time::Duration;

use baton_core::protocol::{Claim, Hint, LeaseIntent, Outcome};
use baton_store::StoreError;
use baton_testbed::contender::{Contender, held_in, namespace};
use baton_testbed::proxy::{ConnectionFault, Proxy};
use baton_testbed::wait::{soon, until};

use crate::fixture::Postgres;

/// How long the handle waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(2);

struct Stage {
    fixture: Postgres,
    proxy: Proxy,
    node: Contender,
}

async fn stage() -> Stage {
    let fixture = Postgres::start().await;
    let proxy = Proxy::to(fixture.server.address()).await;
    // The schema takes longer than the timeout allows on a busy machine.
    drop(fixture.open().await);
    let url =
        format!("{}?timeout_ms={}", fixture.server.url_at(proxy.address()), TIMEOUT.as_millis());
    let store = until("it opens", || async { baton_drivers::open(&url).await.ok() }).await;
    Stage { fixture, proxy, node: Contender::new(&store, &namespace("web"), 1) }
}

#[tokio::test]
async fn a_killed_a_paused_and_a_restarted_server_are_outlived() {
    let Stage { fixture, proxy: _proxy, node } = stage().await;
    let mut hints = node.store.hints(&node.namespace).await.expect("it pushes");
    node.look().await;

    fixture.server.kill().await.expect("it is ours");
    let lost = node.beat(LeaseIntent::Observe).await.expect_err("no server is there");
    let told = matches!(lost, StoreError::Unavailable { .. } | StoreError::Unknown { .. });
    assert!(told, "{lost:?}");
    fixture.server.start_again().await.expect("it recovers");
    node.look_until_answered().await;
    assert_eq!(hints.recv().await, Some(Hint::Look), "something may have been missed");

    fixture.server.pause().expect("it is ours");
    let lost = node.beat(LeaseIntent::Observe).await.expect_err("no answer comes");
    assert!(matches!(lost, StoreError::Unknown { .. }), "{lost:?}");
    let lost = node.beat(LeaseIntent::Observe).await.expect_err("no connection is accepted");
    assert!(matches!(lost, StoreError::Unavailable { .. }), "{lost:?}");
    fixture.server.resume().expect("it is ours");
    node.look_until_answered().await;

    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name";
    fixture.sql(&format!("{end} = 'baton'")).await;
    node.look_until_answered().await;
    // Hints come over the new connection by themselves, and are hints of the namespace again.
    let other = Contender::new(&fixture.open().await, &node.namespace, 2);
    let held = other.take(Claim::Vacant).await;
    other.release(held).await;
    let heard = async {
        while let Some(hint) = hints.recv().await {
            if matches!(hint, Hint::Released { .. }) {
                return Some(());
            }
        }
        None
    };
    assert_eq!(soon(heard).await, Some(()), "a release is heard of");
}

#[tokio::test]
async fn a_subscription_alone_finds_its_way_back() {
    let Stage { fixture, proxy, node } = stage().await;
    let mut hints = node.store.hints(&node.namespace).await.expect("it pushes");
    let before = proxy.counts().connections;
    proxy.set(ConnectionFault::Refuse);
    until("it dials in vain", async || (proxy.counts().connections > before).then_some(())).await;
    proxy.set(ConnectionFault::None);
    assert_eq!(soon(hints.recv()).await, Some(Hint::Look), "no node sent a beat meanwhile");
    drop(hints);
    assert_eq!(fixture.sql("SELECT 1").await, ["1"]);
}

#[tokio::test]
async fn cut_half_open_and_unanswered_connections_cost_one_timeout() {
    let Stage { fixture: _fixture, proxy, node } = stage().await;
    node.look().await;
    proxy.cut();
    node.look_until_answered().await;

    proxy.set(ConnectionFault::HalfOpen);
    let lost = node.beat(LeaseIntent::Observe).await.expect_err("nothing comes back");
    assert!(matches!(lost, StoreError::Unknown { .. }), "{lost:?}");
    proxy.set(ConnectionFault::None);
    node.look_until_answered().await;

    // Applied, and not told: the nonce tells.
    let seen = node.look().await;
    proxy.set(ConnectionFault::LoseReplies);
    let lost = node.claim_on(&seen, Claim::Vacant).await.expect_err("the answer is lost");
    assert!(matches!(lost, StoreError::Unknown { .. }), "{lost:?}");
    proxy.set(ConnectionFault::None);
    let lease = node.look_until_answered().await.lease.expect("it was granted");
    assert_eq!(lease.version.nonce, node.last_nonce());
    let seen = node.look().await;
    let renewed = node.renew(held_in(&seen)).await.expect("it is answered");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
}
