//! A server that syncs every write goes on after a restart, and whatever else comes up in its place
//! begins a new line of history.

use std::sync::Arc;

use baton_core::ids::Namespace;
use baton_core::protocol::{Claim, Outcome};
use baton_store::Store;
use baton_testbed::Server;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::subject::Fixture;
use baton_testbed::wait::until;

use crate::fixture::{Redis, copied, follow, open, run, server};

const SYNCING: [&str; 4] = ["--appendfsync", "always", "--repl-diskless-sync-delay", "0"];

async fn handle(server: &Server) -> Arc<dyn Store> {
    open(&format!("{}?appendfsync=always", server.url())).await
}

/// A server, and a node that has beaten on it.
async fn begun() -> (Server, Contender) {
    let server = server(&SYNCING).await;
    let node = Contender::new(&handle(&server).await, &web(), 1);
    node.look().await;
    (server, node)
}

fn web() -> Namespace {
    namespace("web")
}

async fn kill_and_start(server: &Server) {
    server.kill().await.expect("it is ours");
    server.start_again().await.expect("it can be started");
}

/// The log is written anew from memory.
async fn rewrite_log(server: &Server) {
    let _: String = run(server, &["BGREWRITEAOF"]).await;
    log_written(server).await;
}

async fn log_written(server: &Server) {
    until("the log is written", async || {
        let info: String = run(server, &["INFO", "persistence"]).await;
        let busy = ["aof_rewrite_in_progress:1", "aof_rewrite_scheduled:1"];
        (!busy.iter().any(|sign| info.contains(sign))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_lease_goes_on_after_each_kill() {
    let (server, node) = begun().await;
    let mut held = node.take(Claim::Vacant).await;
    let before = node.look().await.lineage;
    for time in 1..=3 {
        if time == 2 {
            rewrite_log(&server).await;
            node.look().await;
        }
        kill_and_start(&server).await;
        let renewed = node.renew(held).await.expect("it answers");
        assert_eq!((renewed.outcome, renewed.lineage), (Some(Outcome::Applied), before), "{time}");
        held = renewed.lease.expect("it is held").version;
    }
    let other = Contender::new(&handle(&server).await, &web(), 2);
    assert_eq!(other.look().await.lineage, before, "a handle that was there has said so");
    assert_eq!(node.release(held).await, Outcome::Applied);
    assert_eq!(other.take(Claim::Vacant).await.epoch, held.epoch.next(), "nothing leaps");
}

#[tokio::test]
async fn a_handle_that_cannot_know_that_nothing_was_lost_begins_a_new_lineage() {
    for who in ["one who was not there", "one who was not told", "one whose log is from memory"] {
        let (server, node) = begun().await;
        let before = node.look().await.lineage;
        if who.ends_with("from memory") {
            rewrite_log(&server).await;
        }
        kill_and_start(&server).await;
        let other = match who {
            "one who was not there" => Contender::new(&handle(&server).await, &web(), 2),
            "one who was not told" => Contender::new(&open(&server.url()).await, &web(), 2),
            _ => node,
        };
        assert!(other.look().await.lineage > before, "{who}");
    }
}

#[tokio::test]
async fn a_log_that_went_back_is_noticed_by_those_who_saw_more() {
    let (server, node) = begun().await;
    let fixture = Redis(server);
    fixture.keep_copy(&web()).await.expect("it can be copied");
    let held = node.take(Claim::Vacant).await;
    let before = node.look().await.lineage;
    fixture.restore_copy(&web()).await.expect("it can be put back");
    let renewed = node.renew(held).await.expect("it answers");
    assert_eq!(renewed.outcome, Some(Outcome::Conflict), "{renewed:?}");
    assert!(renewed.lineage > before, "{renewed:?}");
    assert!(node.take(Claim::Vacant).await.epoch > held.epoch);
}

#[tokio::test]
async fn a_replica_in_its_place_is_noticed_promoted_or_restarted() {
    for promoted in [true, false] {
        let (first, second) = (server(&SYNCING).await, server(&SYNCING).await);
        let hosts = format!("{},{}", first.address(), second.address());
        let store = open(&format!("redis://{hosts}?appendfsync=always")).await;
        let node = Contender::new(&store, &web(), 1);
        let held = node.take(Claim::Vacant).await;
        follow(&second, &first).await;
        let before = node.look().await.lineage;
        copied(&first).await;
        log_written(&second).await;
        first.kill().await.expect("it is ours");
        match promoted {
            true => run::<()>(&second, &["REPLICAOF", "NO", "ONE"]).await,
            // It was told to follow by a command, which it forgets.
            false => kill_and_start(&second).await,
        }
        let after = until("it answers", async || node.try_look().await.ok()).await;
        assert!(after.lineage > before, "promoted: {promoted}, {after:?}");
        assert_eq!(after.lease.map(|lease| lease.version), Some(held), "it is a copy");
    }
}

#[tokio::test]
async fn a_server_that_does_not_sync_is_refused_with_what_it_has() {
    let server = server(&[]).await;
    let url = format!("{}?appendfsync=always", server.url());
    for (setting, value, wanted) in [
        ("appendfsync", "everysec", "appendfsync is \"everysec\", and the URL's option needs"),
        ("appendfsync", "always", ""),
        ("no-appendfsync-on-rewrite", "yes", "no-appendfsync-on-rewrite is \"yes\", and "),
        ("no-appendfsync-on-rewrite", "no", ""),
        ("appendonly", "no", "appendonly is \"no\", and the URL's option needs \"yes\"; set"),
    ] {
        let _: () = run(&server, &["CONFIG", "SET", setting, value]).await;
        let opened = baton_drivers::open(&url).await.err().map(|refusal| refusal.to_string());
        assert_eq!(opened.is_none(), wanted.is_empty(), "{setting} {value}: {opened:?}");
        assert!(opened.unwrap_or_default().contains(wanted), "{setting} {value}");
    }
}
