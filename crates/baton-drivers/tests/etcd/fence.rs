//! Fenced writes of the user's own keys: nothing is lost, and a paused leader comes too late.

use baton_core::ids::{BootId, Epoch, EpochTooHigh};
use baton_core::protocol::Claim;
use baton_drivers::StaleEpoch;
use baton_drivers::etcd::fence::{Fence, FenceError};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::{Kind, Server};
use tokio::task::JoinSet;

use crate::fixture::open;
use crate::raw_client::{RawClient, encoded};

const DATA: &str = "shop/invoices";

fn counted(value: Option<&[u8]>) -> u64 {
    let text = value.map(|value| std::str::from_utf8(value).expect("it is text"));
    text.map_or(0, |text| text.parse().expect("it is a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let (url, space) = (server.url(), namespace("fenced"));
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let (url, space) = (url.clone(), space.clone());
        workers.spawn(async move {
            let fence = Fence::open(&url, &space, "counter").await.expect("etcd answers");
            for _ in 0..25 {
                let next = |value: Option<&[u8]>| (counted(value) + 1).to_string().into_bytes();
                fence.update(Epoch(4), "shop/count", next).await.expect("epoch 4 is the highest");
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.expect("no worker panics");
    }
    let client = RawClient::on(server.address());
    let count = client.under("shop/count").await.remove(0).1;
    assert_eq!(counted(Some(&count)), 200);

    let fence = Fence::open(&url, &space, "counter").await.expect("etcd answers");
    fence.put(Epoch(5), "shop/count", b"0").await.expect("5 is higher");
    fence.put(Epoch(5), "shop/count", b"1").await.expect("5 is as high");
    let behind = |given| {
        let (resource, highest) = ("counter".to_owned(), Epoch(5));
        Err(FenceError::StaleEpoch(StaleEpoch { resource, given: Epoch(given), highest }))
    };
    assert_eq!(fence.put(Epoch(4), "shop/count", b"x").await, behind(4));
    assert_eq!(fence.update(Epoch(3), "shop/count", |_| b"x".to_vec()).await, behind(3));
    assert_eq!(client.under("shop/count").await.remove(0).1, b"1", "nothing was written");
    // Another resource has a fence of its own, and the highest number is a number.
    let other = Fence::open(&url, &space, "other").await.expect("etcd answers");
    other.put(Epoch(1), "shop/other", b"x").await.expect("there is no earlier write");
    other.put(Epoch::MAX, "shop/other", b"y").await.expect("nothing is higher");
    other.put(Epoch::MAX, "shop/other", b"z").await.expect("it is as high");
    let beyond = other.put(Epoch(u64::MAX), "shop/other", b"x").await;
    assert_eq!(beyond, Err(FenceError::TooHigh(EpochTooHigh(Epoch(u64::MAX)))));

    // The same condition, in a transaction of another client.
    let guard = fence.guard(Epoch(4));
    let txn = |less_than: &[u8]| {
        format!(
            r#"{{"compare":[{{"key":"{key}","target":"VALUE","result":"LESS","value":"{}"}}]}}"#,
            encoded(less_than),
            key = encoded(&guard.key),
        )
    };
    assert!(client.post("kv/txn", txn(&guard.less_than)).await.get("succeeded").is_none());
    let later = fence.guard(Epoch(6));
    assert_eq!(client.post("kv/txn", txn(&later.less_than)).await["succeeded"], true);
}

/// The old leader: takes the lease, and writes when it is told to.
async fn lead(url: &str) {
    let (store, space) = (open(url).await, namespace("paused"));
    let epoch = Contender::new(&store, &space, 1).take(Claim::Vacant).await.epoch;
    let fence = Fence::open(url, &space, "invoices").await.expect("etcd answers");
    paused::report(&format!("epoch {epoch}"));
    paused::wait_for_go_ahead();
    let written = fence.put(epoch, DATA, b"of the old one").await;
    paused::report(&written.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_writes_too_late() {
    if let Some(url) = paused::orders_if_asked() {
        return lead(&url).await;
    }
    let server = Server::start(Kind::Etcd).await.expect("etcd can be started");
    let (url, space) = (server.url(), namespace("paused"));
    let mut old = PausedLeader::start("fence::a_leader_that_was_paused_writes_too_late", &url);
    assert_eq!(old.next_report().await, "epoch 1");
    old.pause();
    old.send_go_ahead().await;

    let next = Contender::new(&open(&url).await, &space, 2);
    let epoch = next.take(Claim::Dead { boot: BootId(1) }).await.epoch;
    assert_eq!(epoch, Epoch(2));
    let fence = Fence::open(&url, &space, "invoices").await.expect("etcd answers");
    fence.put(epoch, DATA, b"of the new one").await.expect("it is the newest");

    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to invoices; its term is over (";
    let said = old.next_report().await;
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    let stands = RawClient::on(server.address()).under(DATA).await.remove(0).1;
    assert_eq!(String::from_utf8_lossy(&stands), "of the new one");
}
