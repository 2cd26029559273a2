//! The user's own objects, fenced by the epoch.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::Claim;
use baton_drivers::s3::fence::{self, FenceError};
use baton_drivers::s3::object_store::path::Path;
use baton_drivers::s3::object_store::{ObjectStore, ObjectStoreExt};
use baton_drivers::{open, s3};
use baton_testbed::subject::Ground;
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinSet;

use crate::beats::{Peer, namespace};
use crate::ground::Site;

const URL: &str = "BATON_TEST_FENCE_URL";
const NAMESPACE: &str = "BATON_TEST_FENCE_NAMESPACE";

/// An object that nobody has written.
fn fresh() -> Path {
    Path::from(format!("{}.json", namespace("invoices")))
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
    let site = Site::start().await;
    let (objects, key) = (site.objects(), fresh());
    let objects = objects.as_ref();
    assert_eq!(fence::epoch(objects, &key).await.expect("it answers"), None);
    for (epoch, who) in [(3, "c"), (3, "c again"), (7, "g")] {
        fence::put(objects, &key, Epoch(epoch), body(who)).await.expect("nobody is ahead");
        assert!(text(objects, &key).await.contains(&format!("\"by\":\"{who}\"")));
    }
    let refused = fence::put(objects, &key, Epoch(6), body("late")).await;
    let refused = refused.expect_err("a later epoch was here");
    assert!(matches!(refused, FenceError::Behind { given: Epoch(6), highest: Epoch(7), .. }));
    let wanted = format!("{key}: epoch 6 is behind 7; its term is over, so stop");
    assert_eq!(refused.to_string(), wanted);
    assert!(text(objects, &key).await.contains("\"by\":\"g\""));
    assert_eq!(fence::epoch(objects, &key).await.expect("it answers"), Some(Epoch(7)));

    let unmarked = fence::put(objects, &key, Epoch(9), |_| b"same".to_vec()).await;
    assert!(matches!(unmarked, Err(FenceError::NoMark { .. })), "{unmarked:?}");
    // What was there before anybody fenced it counts as written by nobody.
    let plain = fresh();
    objects.put(&plain, "{}".into()).await.expect("it can be written");
    fence::put(objects, &plain, Epoch(1), body("a")).await.expect("nobody is ahead");
}

/// Each worker reads, adds one, and writes under the same epoch; whoever lost reads again.
#[tokio::test]
async fn fenced_increments_are_ordered_and_a_late_one_changes_nothing() {
    const WORKERS: u64 = 8;
    let site = Site::start().await;
    let (objects, key) = (site.objects(), fresh());
    let mut workers = JoinSet::new();
    for worker in 1..=WORKERS {
        let (objects, key) = (Arc::clone(&objects), key.clone());
        workers.spawn(async move {
            fence::put(objects.as_ref(), &key, Epoch(worker), body(&worker.to_string())).await
        });
    }
    let done = workers.join_all().await;
    // Some came too late, the highest never: it is what stands.
    let sound = |it: &Result<(), FenceError>| matches!(it, Ok(()) | Err(FenceError::Behind { .. }));
    assert!(done.iter().all(sound), "{done:?}");
    assert_eq!(
        fence::epoch(objects.as_ref(), &key).await.expect("it answers"),
        Some(Epoch(WORKERS))
    );
    assert!(text(objects.as_ref(), &key).await.contains(&format!("\"by\":\"{WORKERS}\"")));
}

/// Tells the test that started this process.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "\n{line}").and_then(|()| out.flush());
    said.expect("whoever started this process listens");
}

/// The old leader's process: takes the lease, writes, and writes again, but is stopped after it has
/// looked who wrote last, and before it writes.
async fn lead(url: &str, web: &str) {
    let store = open(url).await.expect("the server is fit");
    let key = Path::from(format!("{web}.json"));
    let web = Namespace::new(web).expect("it was one");
    let held = Peer::new(&store, &web, 1).take(Claim::Vacant).await;
    let objects = s3::client(url).expect("the URL is sound");
    let objects = objects.as_ref();
    fence::put(objects, &key, held.epoch, body("leader")).await.expect("nobody is ahead");
    let late = |mark: &str| {
        say(&format!("looked in {}", held.epoch));
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("the test speaks");
        body("leader")(mark)
    };
    match fence::put(objects, &key, held.epoch, late).await {
        Ok(()) => say("wrote"),
        Err(refused) => say(&format!("refused {refused}")),
    }
}

#[tokio::test]
async fn a_paused_old_leader_writes_nothing() {
    if let (Ok(url), Ok(web)) = (std::env::var(URL), std::env::var(NAMESPACE)) {
        return lead(&url, &web).await;
    }
    let site = Site::start().await;
    let web = namespace("web");
    let key = Path::from(format!("{web}.json"));
    let objects = site.objects();
    let this = std::env::current_exe().expect("a test knows its program");
    let mut old = Command::new(this)
        .args(["--exact", "fence::a_paused_old_leader_writes_nothing", "--nocapture"])
        .env(URL, site.url())
        .env(NAMESPACE, web.as_str())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test's own program can be started");
    let mut said = BufReader::new(old.stdout.take().expect("it was asked for")).lines();
    let mut hear = |word: &str| {
        let found = said.by_ref().map_while(Result::ok).find(|line| line.starts_with(word));
        found.expect("the old leader speaks")
    };
    assert_eq!(hear("looked"), "looked in 1");
    let pid = Pid::from_raw(i32::try_from(old.id()).expect("a process id")).expect("not zero");
    kill_process(pid, Signal::STOP).expect("it is this one's child");

    let store = open(&site.url()).await.expect("the server is fit");
    let old_boot = baton_core::ids::BootId(1);
    let new = Peer::new(&store, &web, 2).take(Claim::Dead { boot: old_boot }).await;
    assert_eq!(new.epoch, Epoch(2));
    // The same but for the mark: without it the ETag would be what the old leader has seen.
    fence::put(objects.as_ref(), &key, new.epoch, body("leader")).await.expect("nobody is ahead");
    let written = text(objects.as_ref(), &key).await;

    kill_process(pid, Signal::CONT).expect("it is this one's child");
    drop(old.stdin.take());
    let wanted = format!("refused {key}: epoch 1 is behind 2; its term is over, so stop");
    assert_eq!(hear("refused"), wanted);
    assert!(old.wait().expect("it is this one's child").success());
    assert_eq!(text(objects.as_ref(), &key).await, written);
}
