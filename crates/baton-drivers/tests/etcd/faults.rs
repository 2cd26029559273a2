//! The server killed, paused, cut off: the handle is never opened again.

use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::protocol::{Claim, Failure, LeaseIntent, Outcome};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::proxy::{ConnectionFault, Proxy};
use baton_testbed::wait::until;
use baton_testbed::{Kind, Server};

use crate::fixture::open;

async fn start() -> (Server, Proxy, String) {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let proxy = Proxy::to(server.address()).await;
    let url = format!("{}?timeout_ms=2000", server.url_at(proxy.address()));
    (server, proxy, url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_killed_or_paused_is_used_again() {
    let (server, _proxy, url) = start().await;
    let store = open(&url).await;
    let node = Contender::new(&store, &namespace("outages"), 1).with_ttl(Duration::from_secs(60));
    let mut held = node.take(Claim::Vacant).await;

    server.kill().await.expect("it is ours");
    let failed = node.beat(LeaseIntent::Observe).await;
    // Whether the kept connection broke under the request or before it is a matter of luck.
    let failure = failed.expect_err("it is gone").failure();
    assert!(matches!(failure, Failure::Unknown | Failure::NotDone), "{failure:?}");
    server.start_again().await.expect("it starts");
    let reply = until("the store to answer", async || node.renew(held).await.ok()).await;
    assert_eq!(reply.outcome, Some(Outcome::Applied), "the term outlived the server's restart");
    held = reply.lease.expect("held").version;

    server.pause().expect("it is ours");
    let failed = node.beat(LeaseIntent::Observe).await;
    assert_eq!(failed.expect_err("it is paused").failure(), Failure::Unknown);
    // A renewal begins with a lease, which alone changes nothing.
    let failed = node.renew(held).await;
    assert_eq!(failed.expect_err("it is paused").failure(), Failure::NotDone);
    server.resume().expect("it is ours");
    let reply = until("the store to answer", async || node.renew(held).await.ok()).await;
    assert_eq!(reply.outcome, Some(Outcome::Applied));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_on_the_way_costs_one_timeout_and_is_read_back() {
    let (server, proxy, url) = start().await;
    let store = open(&url).await;
    let node = Contender::new(&store, &namespace("losses"), 1).with_ttl(Duration::from_secs(60));
    let held = node.take(Claim::Vacant).await;

    // Done, and not told: reading back shows it.
    proxy.set(ConnectionFault::LoseReplies);
    let lost = node.try_release(held).await.expect_err("its answer was lost");
    assert_eq!(lost.failure(), Failure::Unknown);
    let seen = node.look().await.lease.expect("there is one");
    assert_eq!(seen.holder, None, "the release took place");
    assert_ne!(seen.version.nonce, held.nonce);

    // Cut: whatever was under way is unknown, and the next call connects anew.
    node.take(Claim::Vacant).await;
    proxy.cut();
    until("a call after the cut", async || node.beat(LeaseIntent::Observe).await.ok()).await;

    // Half open, with several connections kept: one timeout, and all of them are thrown away.
    let stores = [&store, &store, &store];
    let looks = stores.map(|store| store.inspect(&node.namespace));
    for look in futures_joined(looks).await {
        assert!(look.is_ok(), "{look:?}");
    }
    proxy.set(ConnectionFault::HalfOpen);
    let failed = node.beat(LeaseIntent::Observe).await;
    assert_eq!(failed.expect_err("nothing comes back").failure(), Failure::Unknown);
    proxy.set(ConnectionFault::None);
    // Had one of them been used again, it would have been silent for another timeout.
    let answered = node.beat(LeaseIntent::Observe).await;
    assert!(answered.is_ok(), "{answered:?}");

    // Refused: certainly nothing was written.
    proxy.set(ConnectionFault::Refuse);
    until("the kept connections to be gone", async || {
        let failed = node.beat(LeaseIntent::Observe).await.expect_err("it is refused");
        matches!(failed.failure(), Failure::NotDone | Failure::Unknown).then_some(())
    })
    .await;
    proxy.set(ConnectionFault::None);
    let lease = node.look().await.lease.expect("there is one");
    assert!(lease.is_held_by(BootId(1)));
    drop(server);
}

/// All three at once.
async fn futures_joined<T>(futures: [impl Future<Output = T>; 3]) -> [T; 3] {
    let [first, second, third] = futures;
    let (first, second, third) = tokio::join!(first, second, third);
    [first, second, third]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_hosts_one_is_enough() {
    let (server, proxy, _) = start().await;
    let real = server.address();
    let url = format!("etcd://127.0.0.1:1,{},{real}?timeout_ms=2000", proxy.address());
    let store = open(&url).await;
    let node = Contender::new(&store, &namespace("hosts"), 1);
    node.take(Claim::Vacant).await;
    assert!(proxy.counts().round_trips > 0, "the second host was used");
    proxy.set(ConnectionFault::Drop);
    let failed = node.beat(LeaseIntent::Observe).await.expect_err("it was not sent again");
    assert_eq!(failed.failure(), Failure::Unknown);
    let reply = node.beat(LeaseIntent::Observe).await;
    assert!(reply.is_ok(), "the third host is asked next: {reply:?}");
}
