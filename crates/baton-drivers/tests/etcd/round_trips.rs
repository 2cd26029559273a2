//! What a beat costs, counted outside the driver.

use baton_core::protocol::{Claim, Outcome};
use baton_store::{BatchOutcome, DocumentWrite, Precondition};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::proxy::Proxy;
use baton_testbed::{Kind, Server};

use crate::fixture::open;

const BEATS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_is_one_request_and_a_renewal_two() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let proxy = Proxy::to(server.address()).await;
    let store = open(&server.url_at(proxy.address())).await;
    let space = namespace("counted");
    let mut holder = Contender::new(&store, &space, 1);
    let mut held = holder.take(Claim::Vacant).await;

    let before = proxy.counts();
    for _ in 0..BEATS {
        let reply = holder.renew(held).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied));
        held = reply.lease.expect("held").version;
    }
    let renewing = proxy.counts();
    assert_eq!(renewing.round_trips - before.round_trips, 2 * BEATS, "renewals");

    for _ in 0..BEATS {
        holder.look().await;
    }
    let looking = proxy.counts();
    assert_eq!(looking.round_trips - renewing.round_trips, BEATS, "looks");

    // Another handle's first look also asks what is left; after that, one request again, though
    // the holder renews in between.
    let other = open(&server.url_at(proxy.address())).await;
    let rival = Contender::new(&other, &space, 2);
    rival.look().await;
    let before = proxy.counts();
    holder.store = open(&server.url()).await;
    for _ in 0..BEATS {
        let reply = holder.renew(held).await.expect("the store answers");
        held = reply.lease.expect("held").version;
        rival.look().await;
    }
    let after = proxy.counts();
    assert_eq!(after.round_trips - before.round_trips, BEATS, "looks beside renewals");
    assert_eq!(after.connections - before.connections, 0, "connections are kept");

    // Taking over what ran out: a look, what became of the lease; then a lease, the transaction.
    let boot = baton_core::ids::BootId(1);
    let before = proxy.counts();
    rival.take(Claim::Dead { boot }).await;
    assert_eq!(proxy.counts().round_trips - before.round_trips, 3, "a look and a takeover");
}

/// A write reads first what it is to compare. An empty batch costs nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_of_documents_costs_what_one_does() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let proxy = Proxy::to(server.address()).await;
    let store = open(&server.url_at(proxy.address())).await;
    let web = namespace("web");
    let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    let fence = Some(held.epoch);
    let write =
        |name| DocumentWrite { name, body: vec![7; 1_024], precondition: Precondition::Any };
    for (documents, trips) in [(1, None), (1, Some(3)), (10, Some(3)), (0, Some(0))] {
        let names: Vec<_> = (0..documents).map(|number| format!("{documents}/{number}")).collect();
        let before = proxy.counts();
        let batch = names.iter().cloned().map(write).collect();
        let written = store.write_documents(&web, batch, fence).await;
        let written = written.expect("the server answers");
        assert!(matches!(&written, BatchOutcome::Written(it) if it.len() == documents));
        let found = store.read_documents(&web, names).await.expect("the server answers");
        assert!(found.iter().all(Option::is_some) && found.len() == documents, "{found:?}");
        let after = proxy.counts().round_trips - before.round_trips;
        assert!(trips.is_none_or(|trips| trips == after), "{after} for {documents}");
    }
}
