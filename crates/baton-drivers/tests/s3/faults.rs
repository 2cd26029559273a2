//! The server goes away, sleeps, or cannot be heard; the handle outlasts it all.

use baton_core::protocol::{Claim, Failure, Version};
use baton_drivers::open;
use baton_store::StoreError;
use baton_testbed::contender::{Contender, fresh_namespace, held_in};
use baton_testbed::proxy::{ConnectionFault, Proxy};

use crate::fixture::S3Fixture;

/// Looks until the store answers again, and goes on with the term. No other node is there to
/// take it.
async fn recovers(peer: &Contender) -> Version {
    peer.goes_on(held_in(&peer.look_until_answered().await)).await
}

fn failure<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Failure {
    result.expect_err("no server can answer").failure()
}

#[tokio::test]
async fn a_handle_outlasts_its_server_and_its_network() {
    let site = S3Fixture::start().await;
    let proxy = Proxy::to(site.server.address()).await;
    let url = site.server.url_at(proxy.address());
    let store = open(&url).await.expect("the server is fit");
    let peer = Contender::new(&store, &fresh_namespace("web"), 1);
    let held = peer.take(Claim::Vacant).await;

    // Killed: nothing can have been written. Started again: all is there.
    site.server.kill().await.expect("it is ours");
    let failed = failure(peer.renew(held).await);
    assert!(matches!(failed, Failure::NotDone | Failure::Unknown), "{failed:?}");
    site.server.start_again().await.expect("it is ours");
    let held = recovers(&peer).await;
    assert_eq!(held.epoch.0, 1);

    // Paused for longer than the timeout: each call ends in time, with an outcome unknown.
    site.server.pause().expect("it is ours");
    assert_eq!(failure(peer.renew(held).await), Failure::Unknown);
    site.server.resume().expect("it is ours");
    recovers(&peer).await;

    // Connections cut, and then none to be had.
    proxy.cut();
    recovers(&peer).await;
    proxy.set(ConnectionFault::Refuse);
    assert!(peer.try_look().await.is_err());
    proxy.set(ConnectionFault::None);
    recovers(&peer).await;

    // Half-open: costs one timeout, and the connection is not used again.
    for fault in [ConnectionFault::HalfOpen, ConnectionFault::Drop] {
        proxy.set(fault);
        assert_eq!(failure(peer.try_look().await), Failure::Unknown, "{fault:?}");
        proxy.set(ConnectionFault::None);
        recovers(&peer).await;
    }

    // A read that got no answer wrote nothing.
    proxy.set(ConnectionFault::Drop);
    assert_eq!(failure(store.inspect(&peer.namespace).await), Failure::NotDone);
    proxy.set(ConnectionFault::None);
    assert_eq!(recovers(&peer).await.epoch.0, 1);
}

/// No server there at all: certain that nothing was sent, so certain that nothing was written.
#[tokio::test]
async fn a_port_that_refuses_leaves_no_doubt() {
    let site = S3Fixture::start().await;
    let store = open(&site.server.url()).await.expect("the server is fit");
    let peer = Contender::new(&store, &fresh_namespace("web"), 1);
    let held = peer.take(Claim::Vacant).await;
    site.server.kill().await.expect("it is ours");
    // The first call may find that the connection it had is dead.
    let _ = peer.renew(held).await;
    let failed = peer.renew(held).await;
    assert!(matches!(&failed, Err(StoreError::Unavailable { .. })), "{failed:?}");
}
