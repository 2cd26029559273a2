//! Old objects of the user's own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_drivers::s3::object_store::ObjectStoreExt;
use baton_drivers::s3::object_store::path::Path;
use baton_drivers::sweep::{self, Objects, Strategy};
use baton_store::StaleEpoch;
use baton_store::clock::{Clock, SystemClock};
use baton_store::sweep::{Sweep, SweepError, Swept};
use baton_testbed::wait::until;

use crate::fixture::S3Fixture;

const AGE: Duration = Duration::from_secs(2);

fn opened(site: &S3Fixture, strategy: Strategy) -> Arc<dyn Sweep> {
    let objects = Objects::under("tmp/", AGE);
    sweep::open(&site.server.url(), objects, strategy).expect("the prefix is the user's own")
}

async fn put(site: &S3Fixture, keys: &[&str]) {
    for key in keys {
        let body = format!("what {key} says").into_bytes();
        site.objects().put(&Path::from(*key), body.into()).await.expect("it can be written");
    }
}

async fn is_there(site: &S3Fixture, key: &str) -> bool {
    site.objects().head(&Path::from(key)).await.is_ok()
}

/// Sweeps until `wanted` objects have gone, and checks that no more have.
async fn all_gone(sweep: &dyn Sweep, limit: u32, wanted: u32) {
    let mut gone = 0;
    let found = until("the objects to go", async || {
        let swept = sweep.batch(Epoch(1), limit).await.expect("nothing is in its way");
        assert!(swept.records <= limit, "{swept:?}");
        gone += swept.records;
        (gone >= wanted).then_some(gone)
    });
    assert_eq!(found.await, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_objects_go_in_pages_and_young_ones_stay() {
    let site = S3Fixture::start().await;
    let began = SystemClock.now();
    put(&site, &["tmp/a", "tmp/b", "tmp/c/d", "other/a"]).await;
    let sweep = opened(&site, Strategy::Delete);
    let first = sweep.batch(Epoch(1), 100).await.expect("nothing is in its way");
    if SystemClock.now().since(began) < AGE {
        assert_eq!(first, Swept::default(), "none is old yet");
    }
    let page = sweep.batch(Epoch(1), 2).await.expect("nothing is in its way");
    assert!(page.more, "a third is on the next page");
    all_gone(&*sweep, 2, 3 - first.records - page.records).await;
    assert!(SystemClock.now().since(began) >= AGE, "none went early");
    assert!(is_there(&site, "other/a").await);

    // One that is written anew is young again.
    put(&site, &["tmp/a", "tmp/b"]).await;
    let late = sweep.batch(Epoch(1), 100).await.expect("nothing is in its way");
    assert_eq!(late.records, 0);
    until("the older one to go", async || {
        put(&site, &["tmp/b"]).await;
        sweep.batch(Epoch(1), 100).await.expect("nothing is in its way");
        (!is_there(&site, "tmp/a").await).then_some(())
    })
    .await;
    assert!(is_there(&site, "tmp/b").await, "it was always young");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_moved_or_handed_over_and_epochs_fence() {
    let site = S3Fixture::start().await;
    put(&site, &["tmp/a", "tmp/b"]).await;
    all_gone(&*opened(&site, Strategy::archive("old/")), 100, 2).await;
    assert!(is_there(&site, "old/a").await && is_there(&site, "old/b").await);
    assert!(!is_there(&site, "tmp/a").await);

    put(&site, &["tmp/e"]).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&told);
    let callback = Strategy::callback(move |rows| {
        keep.lock().expect("no holder panics").extend(rows);
        std::future::ready(Ok(()))
    });
    all_gone(&*opened(&site, callback), 100, 1).await;
    let told = told.lock().expect("no holder panics").clone();
    assert_eq!((&told[0]["key"], &told[0]["bytes"]), (&"tmp/e".into(), &15.into()));

    let next = opened(&site, Strategy::Delete);
    next.batch(Epoch(2), 1).await.expect("it is the latest");
    let late = next.batch(Epoch(1), 1).await.expect_err("2 was here");
    assert!(
        matches!(late, SweepError::StaleEpoch(StaleEpoch { highest: Epoch(2), .. })),
        "{late:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_swept_is_told_in_one_line() {
    let url = "s3://bucket/team?endpoint=http://127.0.0.1:1&access_key=a&secret_key=b";
    let cases = [
        ("", Strategy::Delete, "the prefix of objects is empty"),
        (
            "team/",
            Strategy::Delete,
            "prefix team/ holds what baton itself keeps at team/namespace=",
        ),
        ("team/fences/x", Strategy::Delete, "holds what baton itself keeps at team/fences/"),
        ("tmp/", Strategy::soft_delete("x"), "s3:// cannot mark an object as deleted"),
        ("tmp/", Strategy::archive("tmp/old/"), "would be archived where they are swept"),
    ];
    for (prefix, strategy, wanted) in cases {
        let refused = sweep::open(url, Objects::under(prefix, AGE), strategy);
        let message = refused.err().expect(wanted).to_string();
        assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
    }
    let none = sweep::open(url, Objects::under("tmp/", Duration::ZERO), Strategy::Delete);
    assert!(none.is_err(), "everything would be old");
    let away = sweep::open(url, Objects::under("tmp/", AGE), Strategy::Delete);
    let away = away.expect("the prefix is the user's own");
    let looked = away.examine().await;
    assert!(matches!(looked, Err(SweepError::Unavailable { .. })), "{looked:?}");
    let away = away.batch(Epoch(1), 1).await;
    assert!(matches!(away, Err(SweepError::Unavailable { .. })), "{away:?}");
}
