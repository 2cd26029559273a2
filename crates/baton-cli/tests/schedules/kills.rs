//! A schedule of every second through twenty leaders that are killed just before the second.

use std::time::Duration;

use baton::Epoch;
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::Kind;

use crate::stage::{NOTE, Stage, namespace, until};

const KILLS: usize = 20;

/// Every slot is run, one after another; those of a failover that took longer are made up for.
const EVERY_SECOND: &[&str] =
    &["--cron=* * * * * *", "--overlap=queue", "--misfire=catch-up", "--catch-up-cap=100"];

/// How long before the second the leader is killed.
const BEFORE: Duration = Duration::from_millis(30);

async fn assert_every_slot_starts_once(kind: Option<Kind>) {
    let stage = Stage::new(kind).await;
    let store = stage.open().await;
    let start = |id: &str| stage.replica(id, EVERY_SECOND, NOTE);
    let mut replicas = ["a", "b", "c"].map(|id| (id, start(id)));
    stage.starts(1).await;
    let (mut leader, mut epoch) = stage.leader(&store, Epoch::NONE).await;
    for _ in 0..KILLS {
        just_before_the_second().await;
        let (id, replica) =
            replicas.iter_mut().find(|(id, _)| *id == leader).expect("it is one of them");
        replica.kill();
        *replica = start(id);
        (leader, epoch) = stage.leader(&store, epoch).await;
    }
    let count = stage.runs().0.len();
    let runs = stage.starts(count + 2).await;
    for (_, replica) in &mut replicas {
        replica.stop().await;
    }
    let again = runs.check_every_second().unwrap_or_else(|problem| {
        unreachable!("{kind:?}: {problem}\n{:?}\n{}", runs.0, stage.said_by(&leader))
    });
    println!("{kind:?}: {} slots, run again: {again:?}", runs.0.len() - again.len());
    let epochs = store.history(&namespace(), 100).await;
    assert!(epochs.expect("it answers").len() > KILLS, "each kill moved leadership");
}

/// Waits until the next second of the wall clock is about to begin.
async fn just_before_the_second() {
    let is_close = || SystemClock.wall_ms() % 1_000 >= 1_000 - BEFORE.as_millis() as u64;
    until("the end of a second", async || is_close().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_slot_starts_once_on_a_file_and_in_databases() {
    tokio::join!(
        assert_every_slot_starts_once(None),
        assert_every_slot_starts_once(Some(Kind::Postgres)),
        assert_every_slot_starts_once(Some(Kind::Mariadb)),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_slot_starts_once_on_redis_s3_and_etcd() {
    tokio::join!(
        assert_every_slot_starts_once(Some(Kind::Redis)),
        assert_every_slot_starts_once(Some(Kind::Ministack)),
        assert_every_slot_starts_once(Some(Kind::Etcd)),
    );
}
