//! An old leader that was stopped right before its write: when it goes on, it is refused.

use std::io::BufRead;
use std::process::{Child, Command, Stdio};

use baton_core::protocol::Claim;
use baton_drivers::postgres::fence::Refused;

use crate::fence::add_one;
use crate::ground::{Postgres, Session};
use crate::node::{Node, eventually, namespace};

const URL: &str = "BATON_TEST_OLD_LEADER_URL";
const TEST: &str = "paused::an_old_leader_that_was_stopped_is_refused";

/// What the old leader does: takes the lease, says so, and waits for a line before it writes.
async fn lead(url: &str) {
    let store = baton_drivers::open(url).await.expect("the server answers");
    let held = Node::new(store, &namespace("web"), 1).take(Claim::Vacant).await;
    let mut session = Session::open(url).await;
    std::fs::write(said(), "leading").expect("it is ours");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).expect("somebody says when");
    let outcome = match add_one(&mut session, held.epoch.0).await {
        Err(Refused::Behind { given, highest, .. }) => format!("{given} behind {highest}"),
        other => format!("{other:?}"),
    };
    std::fs::write(said(), outcome).expect("it is ours");
}

/// Where the old leader writes what it has to say.
fn said() -> String {
    std::env::var("BATON_TEST_OLD_LEADER_SAYS").expect("it was told")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.expect("it can be signalled").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_leader_that_was_stopped_is_refused() {
    if let Ok(url) = std::env::var(URL) {
        return lead(&url).await;
    }
    let ground = Postgres::start().await;
    let store = ground.open().await;
    ground.sql("CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (0)").await;
    let file = ground.data().with_file_name("said");
    let this = std::env::current_exe().expect("a test knows its program");
    let mut old = Command::new(this)
        .args(["--exact", TEST, "--nocapture"])
        .env(URL, ground.server.url())
        .env("BATON_TEST_OLD_LEADER_SAYS", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the test's own program can be started");
    let says = |wanted: &'static str| {
        let file = file.clone();
        eventually("it says something", move || {
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            async move { found.starts_with(wanted).then_some(found) }
        })
    };
    says("leading").await;
    signal(&old, "-STOP");
    // It is told to write, and cannot.
    drop(old.stdin.take());

    let mut next = Node::new(store, &namespace("web"), 2);
    let boot = baton_core::ids::BootId(1);
    let held = next.take(Claim::Dead { boot }).await;
    let mut session = Session::open(&ground.server.url()).await;
    add_one(&mut session, held.epoch.0).await.expect("it leads");
    ground.sql("UPDATE numbers SET n = 100").await;
    signal(&old, "-CONT");
    assert_eq!(says("1 behind").await, "1 behind 2");
    assert!(old.wait().expect("it is ours").success());
    assert_eq!(ground.sql("SELECT n FROM numbers").await, ["100"], "the new leader's");
}
