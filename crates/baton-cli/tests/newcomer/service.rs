//! A web service with fenced writes: its leader is killed, then paused; and the store restarts.

use std::time::Duration;

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::Newcomer;

pub const SECTIONS: &[&str] = &[SERVICE, RESTART];
const SERVICE: &str = "A web service";
const RESTART: &str = "When the store restarts";

/// How long the store is away.
const AWAY: Duration = Duration::from_secs(3);

/// The least time between two beats: one of them is lost at most, which a term endures. A machine
/// on which the restart takes longer is too busy to show it.
const ENDURED: Duration = Duration::from_secs(4);

/// Starts three replicas, and waits for the first reports.
async fn three(on: On) -> (Newcomer, String, u64) {
    let mut me = Newcomer::arrive(on).await;
    me.next(SERVICE).await;
    me.next(SERVICE).await;
    let (leader, epoch) = me.led(3, 0).await;
    written(&me, epoch, 0).await;
    me.next(SERVICE).await;
    (me, leader, epoch)
}

/// Waits until more reports than this are there, the last of which is of this epoch.
async fn written(me: &Newcomer, epoch: u64, beyond: usize) -> usize {
    let wanted = i64::try_from(epoch).ok();
    until("a report", async || {
        let reports = me.fixture.reports().await;
        (reports.len() > beyond && reports.last().copied() == wanted).then_some(reports.len())
    })
    .await
}

/// The job of a replica: they were started in order.
fn job(node: &str) -> String {
    node.replace("web-", "%")
}

async fn task(on: On) -> Newcomer {
    let (mut me, first, epoch) = three(on).await;
    me.run(&format!("kill -9 {}", job(&first))).await;
    let (second, epoch) = me.led(2, epoch).await;
    written(&me, epoch, 0).await;

    me.run(&format!("kill -STOP {}", job(&second))).await;
    let (third, epoch) = me.led(1, epoch).await;
    let count = written(&me, epoch, 0).await;
    me.run(&format!("kill -CONT {}", job(&second))).await;
    let late = format!("curl -s -m 5 http://127.0.0.1:{}/", second.replace("web-", "808"));
    let leads = format!("leader: {third}\n");
    until("the paused one to learn who leads", async || {
        me.run(&late).await.out.ends_with(&leads).then_some(())
    })
    .await;
    written(&me, epoch, count).await;
    let reports = me.fixture.reports().await;
    assert!(reports.is_sorted(), "one of an earlier epoch came late: {reports:?}");

    let ended = format!("kill {0} && wait {0}", job(&third));
    assert_eq!(me.run(&ended).await.code, 0, "it ends in order");
    assert!(me.terminal.all_printed().contains("left\n"));
    me
}

async fn store_restarts(on: On) -> Newcomer {
    let (mut me, leader, epoch) = three(on).await;
    let before = me.fixture.reports().await.len();
    let away = me.fixture.away(AWAY).await;
    let (leader_then, epoch_then) = me.led(1, 0).await;
    let kept = (leader_then, epoch_then) == (leader, epoch);
    assert!(kept || away > ENDURED, "another term began after {away:?}");
    if kept {
        written(&me, epoch, before).await;
    }
    me.next(RESTART).await;
    let terms = me.json("baton history").await.as_array().map_or(0, Vec::len);
    assert!(terms == 1 || !kept, "{terms} terms");
    me
}

#[tokio::test]
async fn on_postgresql() {
    task(On::Postgres).await.assert_did(&[SERVICE]);
}

#[tokio::test]
async fn on_the_embedded_store() {
    task(On::Embedded).await.assert_did(&[SERVICE]);
}

#[tokio::test]
async fn when_postgresql_restarts() {
    store_restarts(On::Postgres).await.assert_did(SECTIONS);
}

#[tokio::test]
async fn when_the_file_is_locked() {
    store_restarts(On::Embedded).await.assert_did(SECTIONS);
}
