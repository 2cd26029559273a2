//! The user's own writes, fenced.

use baton_core::ids::Epoch;
use baton_core::protocol::Claim;
use baton_drivers::redis::fence::{Fence, FenceError};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::paused::{self, PausedLeader};
use redis::Cmd;
use tokio::task::JoinSet;

use crate::fixture::open;
use crate::fixture::{client, run, server};

const KEY: &str = "{invoices}:last";

fn set(value: &str) -> Cmd {
    redis::cmd("SET").arg(KEY).arg(value).take()
}

#[tokio::test]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let server = server(&[]).await;
    let fence = Fence::new("invoices");
    let mut writers = JoinSet::new();
    for _ in 0..8 {
        let (fence, mut connection) = (fence.clone(), client(&server).await);
        writers.spawn(async move {
            let count = [redis::cmd("INCR").arg("{invoices}:count").take()];
            for _ in 0..25 {
                let keys = ["{invoices}:count"];
                fence
                    .write(&mut connection, Epoch(7), &keys, &count)
                    .await
                    .expect("it is the newest");
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.expect("no writer panics");
    }
    let count: u64 = run(&server, &["GET", "{invoices}:count"]).await;
    assert_eq!(count, 200);

    let mut connection = client(&server).await;
    let beyond = Epoch((1 << 53) + 1);
    let answers = fence.write(&mut connection, beyond, &[KEY], &[set("new"), set("newer")]).await;
    assert_eq!(answers.expect("it is the newest").len(), 2);
    for given in [Epoch(7), Epoch(beyond.0 - 1)] {
        let late = fence.write(&mut connection, given, &[KEY], &[set("old")]).await;
        assert!(
            matches!(&late, Err(FenceError::StaleEpoch(late)) if late.highest == beyond),
            "{late:?}"
        );
    }
    let kept: String = run(&server, &["GET", KEY]).await;
    assert_eq!(kept, "newer");
    let _: () = run(&server, &["SET", "baton:fence:{invoices}", "soon"]).await;
    let foreign = fence.write(&mut connection, beyond, &[KEY], &[set("x")]).await;
    assert!(matches!(foreign, Err(FenceError::Foreign { .. })), "{foreign:?}");
}

/// The old leader: takes a term, waits for the word, and writes in that term.
async fn old_leader(url: &str) {
    let store = open(url).await;
    let node = Contender::new(&store, &namespace("web"), 1);
    let epoch = node.take(Claim::Vacant).await.epoch;
    let server = redis::Client::open(url).expect("the URL is sound");
    let mut connection = server.get_multiplexed_async_connection().await.expect("it answers");
    paused::report(&format!("epoch {epoch}"));
    paused::wait_for_go_ahead();
    let written = Fence::new("invoices").write(&mut connection, epoch, &[KEY], &[set("old")]).await;
    paused::report(&written.map_or_else(|refused| refused.to_string(), |_| "written".to_owned()));
}

#[tokio::test]
async fn a_leader_that_was_paused_writes_too_late() {
    if let Some(url) = paused::orders_if_asked() {
        return old_leader(&url).await;
    }
    let server = server(&[]).await;
    let mut old =
        PausedLeader::start("fence::a_leader_that_was_paused_writes_too_late", &server.url());
    assert_eq!(old.next_report().await, "epoch 1");
    old.pause();
    old.send_go_ahead().await;
    let store = open(&server.url()).await;
    let node = Contender::new(&store, &namespace("web"), 2);
    let boot = baton_core::ids::BootId(1);
    let epoch = node.take(Claim::Dead { boot }).await.epoch;
    assert_eq!(epoch, Epoch(2));
    let mut connection = client(&server).await;
    let written = Fence::new("invoices").write(&mut connection, epoch, &[KEY], &[set("new")]).await;
    assert!(written.is_ok(), "{written:?}");

    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to invoices; its term is over (";
    let said = old.next_report().await;
    assert!(said.starts_with(wanted), "{said}");
    let kept: String = run(&server, &["GET", KEY]).await;
    assert_eq!(kept, "new");
    assert!(old.ended_well().await);
}
