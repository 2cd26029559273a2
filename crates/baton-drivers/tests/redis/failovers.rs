//! A server that followed another one and was promoted again holds that one's data, not its own.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{Claim, Outcome};
use baton_testbed::Server;
use baton_testbed::contender::{Contender, namespace};

use crate::fixture::{copied, follow, open, run, server};

const SYNCING: [&str; 4] = ["--appendfsync", "always", "--repl-diskless-sync-delay", "0"];

fn web() -> Namespace {
    namespace("web")
}

/// A node with a handle of its own.
async fn node(url: &str, boot: u128) -> Contender {
    Contender::new(&open(url).await, &web(), boot)
}

async fn promote(server: &Server) {
    let _: () = run(server, &["REPLICAOF", "NO", "ONE"]).await;
}

#[tokio::test]
async fn no_epoch_comes_back_after_a_failover_and_back_to_the_same_process() {
    for (options, remembers) in
        [("", true), ("", false), ("?appendfsync=always", true), ("?appendfsync=always", false)]
    {
        let case = format!("{options:?}, remembers: {remembers}");
        let (first, second) = (server(&SYNCING).await, server(&SYNCING).await);
        let url = format!("{}{options}", first.url());
        follow(&second, &first).await;
        let (x, y) = (node(&url, 1).await, node(&url, 2).await);
        let held = x.take(Claim::Vacant).await;
        assert_eq!((held.epoch, x.release(held).await), (Epoch(1), Outcome::Applied), "{case}");
        let early = node(&url, 3).await;
        let before = early.look().await.lineage;
        copied(&first).await;

        promote(&second).await;
        let lost = y.take(Claim::Vacant).await;
        assert_eq!(lost.epoch, Epoch(2), "{case}");
        follow(&first, &second).await;
        promote(&first).await;

        let z = if remembers { early } else { node(&url, 4).await };
        let seen = z.look().await;
        assert_eq!(seen.lease.map(|lease| lease.version.epoch), Some(Epoch(1)), "it went back");
        assert!(seen.lineage > before, "{case}: {:?} after {before:?}", seen.lineage);
        let taken = z.take(Claim::Vacant).await;
        assert!(taken.epoch.0 > lost.epoch.0 + Epoch::LEAP, "{case}: {taken:?} after {lost:?}");
        let late = y.renew(lost).await.expect("it answers");
        assert_eq!(late.outcome, Some(Outcome::Conflict), "{case}: {late:?}");
        assert_eq!(z.goes_on(taken).await.epoch, taken.epoch, "{case}");
    }
}

/// With the same data, and under the same process: the lineage alone tells what happened.
#[tokio::test]
async fn each_way_round_begins_a_lineage_and_a_replica_that_comes_and_goes_does_not() {
    let (first, second) = (server(&SYNCING).await, server(&SYNCING).await);
    follow(&second, &first).await;
    let node = node(&first.url(), 1).await;
    let mut held = node.take(Claim::Vacant).await;
    let mut last = node.look().await.lineage;
    promote(&second).await;
    follow(&second, &first).await;
    held = node.goes_on(held).await;
    assert_eq!(node.look().await.lineage, last, "this server has led throughout");
    for time in 1..=3 {
        copied(&first).await;
        promote(&second).await;
        follow(&first, &second).await;
        promote(&first).await;
        follow(&second, &first).await;
        let seen = node.look().await;
        assert!(seen.lineage > last, "time {time}: {:?} after {last:?}", seen.lineage);
        last = seen.lineage;
        held = node.goes_on(held).await;
        assert_eq!(node.look().await.lineage, last, "time {time}: it stays");
    }
}

/// A fleet of two versions, one of which does not know the replid, agrees on the lineage.
#[tokio::test]
async fn a_record_of_an_earlier_version_is_taken_over_as_it_is() {
    let server = server(&[]).await;
    let node = node(&server.url(), 1).await;
    let before = node.look().await.lineage;
    let meta = crate::fixture::key(&web(), "meta");
    let _: u64 = run(&server, &["HDEL", &meta, "replid"]).await;
    assert_eq!(node.look().await.lineage, before);
    let kept: Option<String> = run(&server, &["HGET", &meta, "replid"]).await;
    assert!(kept.is_some(), "it is noted by the first beat that knows it");
}
