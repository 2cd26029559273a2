//! The user's own objects, fenced by the epoch.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::Claim;
use baton_drivers::s3::fence::{Fence, FenceError};
use baton_drivers::s3::object_store::path::Path;
use baton_drivers::s3::object_store::{ObjectStore, ObjectStoreExt};
use baton_drivers::{open, s3};
use baton_testbed::contender::{Contender, fresh_namespace};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::subject::Fixture;
use tokio::task::JoinSet;

use crate::fixture::S3Fixture;

/// An object that was never written.
fn fresh() -> Path {
    Path::from(format!("{}.json", fresh_namespace("invoices")))
}

/// What the object says: who wrote it, and the mark.
fn body(who: &str) -> impl Fn(&str) -> Vec<u8> {
    move |mark| format!("{{\"by\":\"{who}\",\"write\":\"{mark}\"}}").into_bytes()
}

async fn text(objects: &dyn ObjectStore, key: &Path) -> String {
    let read = objects.get(key).await.expect("it is there");
    String::from_utf8_lossy(&read.bytes().await.expect("it can be read")).into_owned()
}

#[tokio::test]
async fn the_highest_epoch_wins() {
    let site = S3Fixture::start().await;
    let (objects, key) = (site.objects(), fresh());
    let objects = objects.as_ref();
    assert_eq!(Fence::new(key.clone()).highest(objects).await.expect("it answers"), None);
    for (epoch, who) in [(3, "c"), (3, "c again"), (7, "g")] {
        Fence::new(key.clone())
            .put(objects, Epoch(epoch), body(who))
            .await
            .expect("no later epoch was here");
        assert!(text(objects, &key).await.contains(&format!("\"by\":\"{who}\"")));
    }
    let refused = Fence::new(key.clone()).put(objects, Epoch(6), body("late")).await;
    let refused = refused.expect_err("a later epoch was here");
    assert!(matches!(refused, FenceError::StaleEpoch(_)));
    let wanted = format!("epoch 6 is behind 7, which was admitted to {key}; its term is over (");
    assert!(refused.to_string().starts_with(&wanted), "{refused}");
    assert!(text(objects, &key).await.contains("\"by\":\"g\""));
    assert_eq!(Fence::new(key.clone()).highest(objects).await.expect("it answers"), Some(Epoch(7)));

    let unmarked = Fence::new(key.clone()).put(objects, Epoch(9), |_| b"same".to_vec()).await;
    assert!(matches!(unmarked, Err(FenceError::NoMark { .. })), "{unmarked:?}");
    // What was there before it was fenced counts as written in epoch 0.
    let plain = fresh();
    objects.put(&plain, "{}".into()).await.expect("it can be written");
    Fence::new(plain.clone())
        .put(objects, Epoch(1), body("a"))
        .await
        .expect("no later epoch was here");
}

/// Each worker reads, adds one, and writes under the same epoch; a worker that lost reads again.
#[tokio::test]
async fn fenced_increments_are_ordered_and_a_late_one_changes_nothing() {
    const WORKERS: u64 = 8;
    let site = S3Fixture::start().await;
    let (objects, key) = (site.objects(), fresh());
    let mut workers = JoinSet::new();
    for worker in 1..=WORKERS {
        let (objects, key) = (Arc::clone(&objects), key.clone());
        workers.spawn(async move {
            Fence::new(key.clone())
                .put(objects.as_ref(), Epoch(worker), body(&worker.to_string()))
                .await
        });
    }
    let done = workers.join_all().await;
    // Some came too late, the highest never: it is what stands.
    let sound = |it: &Result<(), FenceError>| matches!(it, Ok(()) | Err(FenceError::StaleEpoch(_)));
    assert!(done.iter().all(sound), "{done:?}");
    assert_eq!(
        Fence::new(key.clone()).highest(objects.as_ref()).await.expect("it answers"),
        Some(Epoch(WORKERS))
    );
    assert!(text(objects.as_ref(), &key).await.contains(&format!("\"by\":\"{WORKERS}\"")));
}

/// The old leader's process: takes the lease, writes, and writes again, but is stopped after it has
/// looked who wrote last, and before it writes.
async fn lead(url: &str, web: &str) {
    let store = open(url).await.expect("the server is fit");
    let key = Path::from(format!("{web}.json"));
    let web = Namespace::new(web).expect("it was one");
    let held = Contender::new(&store, &web, 1).take(Claim::Vacant).await;
    let objects = s3::client(url).expect("the URL is sound");
    let objects = objects.as_ref();
    Fence::new(key.clone())
        .put(objects, held.epoch, body("leader"))
        .await
        .expect("no later epoch was here");
    let late = |mark: &str| {
        paused::report(&format!("looked in {}", held.epoch));
        paused::wait_for_go_ahead();
        body("leader")(mark)
    };
    match Fence::new(key.clone()).put(objects, held.epoch, late).await {
        Ok(()) => paused::report("written"),
        Err(refused) => paused::report(&refused.to_string()),
    }
}

#[tokio::test]
async fn a_paused_old_leader_writes_nothing() {
    if let Some(orders) = paused::orders_if_asked() {
        let (url, web) = orders.split_once(' ').expect("they name a server and a namespace");
        return lead(url, web).await;
    }
    let site = S3Fixture::start().await;
    let web = fresh_namespace("web");
    let key = Path::from(format!("{web}.json"));
    let objects = site.objects();
    let orders = format!("{} {web}", site.url());
    let mut old = PausedLeader::start("fence::a_paused_old_leader_writes_nothing", &orders);
    assert_eq!(old.next_report().await, "looked in 1");
    old.pause();
    old.send_go_ahead().await;

    let store = open(&site.url()).await.expect("the server is fit");
    let old_boot = baton_core::ids::BootId(1);
    let new = Contender::new(&store, &web, 2).take(Claim::Dead { boot: old_boot }).await;
    assert_eq!(new.epoch, Epoch(2));
    // The same but for the mark: without it the ETag would be what the old leader has seen.
    Fence::new(key.clone())
        .put(objects.as_ref(), new.epoch, body("leader"))
        .await
        .expect("no later epoch was here");
    let written = text(objects.as_ref(), &key).await;

    old.resume();
    let wanted = format!("epoch 1 is behind 2, which was admitted to {key}; its term is over (");
    let said = old.next_report().await;
    assert!(said.starts_with(&wanted), "{said}");
    assert!(old.ended_well().await);
    assert_eq!(text(objects.as_ref(), &key).await, written);
}
