//! The server and the network fail; the handle stays open, and nothing is taken for what it is not.

use std::sync::Arc;
use std::time::Duration;

use baton_core::protocol::{Claim, Failure, Hint, Outcome};
use baton_store::{HintStream, Store, StoreError};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::wait::{soon, until};
use baton_testbed::{ConnectionFault, Proxy, Server};

use crate::fixture::open;
use crate::fixture::{run, server};

/// What the test's URL allows a call: more than a busy machine needs for one.
const TIMEOUT: Duration = Duration::from_secs(2);

fn url(plain: &str) -> String {
    format!("{plain}?timeout_ms={}", TIMEOUT.as_millis())
}

async fn behind_a_proxy(server: &Server) -> (Proxy, Arc<dyn Store>) {
    let proxy = Proxy::to(server.address()).await;
    let store = open(&url(&server.url_at(proxy.address()))).await;
    (proxy, store)
}

/// Waits for a hint, past any other.
async fn hears(hints: &mut HintStream, wanted: &Hint) -> bool {
    let waiting = async {
        while let Some(hint) = hints.recv().await {
            if hint == *wanted {
                return true;
            }
        }
        false
    };
    soon(async { Some(waiting.await) }).await == Some(true)
}

#[tokio::test]
async fn a_server_that_is_killed_paused_and_restarted() {
    let server = server(&[]).await;
    let store = open(&url(&server.url())).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    let mut hints = store.hints(&node.namespace).await.expect("it can be listened to");

    server.kill().await.expect("it is ours");
    // A request that meets the end of the connection is unknown; the next one is not even sent.
    until("there is no server to send it to", async || {
        let gone = node.try_look().await.map_err(|error| error.failure());
        (gone.expect_err("the server is gone") == Failure::NotDone).then_some(())
    })
    .await;
    server.start_again().await.expect("it can be started");
    let seen = node.look_until_answered().await;
    assert_eq!(seen.lease.as_ref().map(|lease| lease.version), Some(held), "nothing was lost");
    let renewed = node.renew(held).await.expect("it answers");
    assert_eq!(renewed.outcome, Some(Outcome::Applied), "{renewed:?}");
    assert!(hears(&mut hints, &Hint::Look).await, "something may have been missed");

    server.pause().expect("it is ours");
    let silent = node.try_look().await;
    assert!(matches!(silent, Err(StoreError::Unknown { .. })), "{silent:?}");
    server.resume().expect("it is ours");
    until("it answers again", async || node.try_look().await.ok()).await;
}

#[tokio::test]
async fn connections_that_the_server_kills_or_holds_up() {
    let server = server(&[]).await;
    let store = open(&url(&server.url())).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let held = node.take(Claim::Vacant).await;
    let mut hints = store.hints(&node.namespace).await.expect("it can be listened to");
    let killed: u64 = run(&server, &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await;
    assert!(killed > 0, "the store has a connection");
    // Until the close has come through, a beat may be told that its outcome is unknown.
    until("a beat gets through", async || node.try_look().await.ok()).await;
    let _: u64 = run(&server, &["CLIENT", "KILL", "TYPE", "pubsub"]).await;
    assert!(hears(&mut hints, &Hint::Look).await, "it listens again");
    assert_eq!(node.release(held).await, Outcome::Applied);
    let heard = soon(hints.recv()).await;
    assert!(matches!(heard, Some(Hint::Released { .. })), "{heard:?}");

    let _: () = run(&server, &["CLIENT", "PAUSE", "600000", "WRITE"]).await;
    let held_up = node.try_look().await;
    assert!(matches!(held_up, Err(StoreError::Unknown { .. })), "{held_up:?}");
    let _: () = run(&server, &["CLIENT", "UNPAUSE"]).await;
    until("it answers again", async || node.try_look().await.ok()).await;
}

#[tokio::test]
async fn a_network_that_cuts_and_swallows() {
    let server = server(&[]).await;
    let (proxy, store) = behind_a_proxy(&server).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    node.look().await;

    proxy.cut();
    until("it connects anew", async || node.try_look().await.ok()).await;

    for fault in [ConnectionFault::HalfOpen, ConnectionFault::Drop] {
        proxy.set(fault);
        let silent = node.try_look().await;
        assert!(matches!(silent, Err(StoreError::Unknown { .. })), "{silent:?}");
        proxy.set(ConnectionFault::None);
        until("it connects anew", async || node.try_look().await.ok()).await;
    }

    proxy.set(ConnectionFault::Refuse);
    until("the cut came through", async || {
        let refused = node.try_look().await.map_err(|error| error.failure());
        (refused.err() == Some(Failure::NotDone)).then_some(())
    })
    .await;
    proxy.set(ConnectionFault::None);
    until("it connects anew", async || node.try_look().await.ok()).await;

    // Applied and not answered: unknown, and reading back shows whose nonce is there.
    let seen = node.look().await;
    proxy.set(ConnectionFault::LoseReplies);
    let lost = node.claim_on(&seen, Claim::Vacant).await;
    assert!(matches!(lost, Err(StoreError::Unknown { .. })), "{lost:?}");
    proxy.set(ConnectionFault::None);
    until("it connects anew", async || node.try_look().await.ok()).await;
    let lease = node.look().await.lease.expect("it was granted");
    assert_eq!(lease.version.nonce, node.last_nonce());
}
