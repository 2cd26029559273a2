//! The user's own writes, fenced.

use std::io::{BufRead, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::Claim;
use baton_drivers::redis::fence::{Fence, Refused};
use redis::Cmd;
use rustix::process::{Pid, Signal, kill_process};
use tokio::task::JoinSet;

use crate::beats::{Node, namespace, open, until};
use crate::ground::{client, run, server};

const URL: &str = "BATON_TEST_FENCED_URL";
const MARK: &str = "fenced> ";
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
        let is_behind = |highest: Epoch| highest == beyond;
        assert!(
            matches!(late, Err(Refused::Behind { highest, .. }) if is_behind(highest)),
            "{late:?}"
        );
    }
    let kept: String = run(&server, &["GET", KEY]).await;
    assert_eq!(kept, "newer");
    let _: () = run(&server, &["SET", "baton:fence:{invoices}", "soon"]).await;
    let foreign = fence.write(&mut connection, beyond, &[KEY], &[set("x")]).await;
    assert!(matches!(foreign, Err(Refused::Foreign { .. })), "{foreign:?}");
}

/// Is every thread of this process stopped?
fn stands_still(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there");
    tasks.flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    let said = writeln!(out, "\n{MARK}{what}").and_then(|()| out.flush());
    said.expect("whoever started this process listens");
}

/// The old leader: takes a term, waits for the word, and writes in that term.
async fn old_leader(url: &str) {
    let store = open(url).await;
    let mut node = Node::new(&store, &namespace("web"), 1);
    node.ttl = Duration::from_millis(500);
    let epoch = node.take(Claim::Vacant).await.version.epoch;
    let server = redis::Client::open(url).expect("the URL is sound");
    let mut connection = server.get_multiplexed_async_connection().await.expect("it answers");
    say(&format!("leads {epoch}"));
    let word = std::io::stdin().lock().lines().next();
    assert!(word.is_some_and(|line| line.is_ok()), "it is told to go on");
    let written = Fence::new("invoices").write(&mut connection, epoch, &[KEY], &[set("old")]).await;
    say(&match written {
        Err(Refused::Behind { given, highest, .. }) => format!("behind {given} {highest}"),
        other => format!("{other:?}"),
    });
}

#[tokio::test]
async fn a_leader_that_was_paused_writes_too_late() {
    if let Ok(url) = std::env::var(URL) {
        return old_leader(&url).await;
    }
    let server = server(&[]).await;
    let this = std::env::current_exe().expect("a test knows its program");
    let mut old = Command::new(this)
        .args(["--exact", "fence::a_leader_that_was_paused_writes_too_late", "--nocapture"])
        .env(URL, server.url())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test's own program can be started");
    let pid = i32::try_from(old.id()).ok().and_then(Pid::from_raw).expect("it is a process");
    let said = std::io::BufReader::new(old.stdout.take().expect("it was asked for")).lines();
    let mut said =
        said.map_while(Result::ok).filter_map(|line| Some(line.strip_prefix(MARK)?.to_owned()));
    assert_eq!(said.next().as_deref(), Some("leads 1"));

    kill_process(pid, Signal::STOP).expect("it is ours");
    // The signal is only sent then: a thread that still ran would read on and write in time.
    until("the old leader stands still", async || stands_still(old.id())).await;
    let mut stdin = old.stdin.take().expect("it was asked for");
    stdin.write_all(b"go on\n").expect("it has a pipe");
    let store = open(&server.url()).await;
    let mut node = Node::new(&Arc::clone(&store), &namespace("web"), 2);
    let boot = baton_core::ids::BootId(1);
    let epoch = node.take(Claim::Dead { boot }).await.version.epoch;
    assert_eq!(epoch, Epoch(2));
    let mut connection = client(&server).await;
    let written = Fence::new("invoices").write(&mut connection, epoch, &[KEY], &[set("new")]).await;
    assert!(written.is_ok(), "{written:?}");

    kill_process(pid, Signal::CONT).expect("it is ours");
    assert_eq!(said.next().as_deref(), Some("behind 1 2"));
    let kept: String = run(&server, &["GET", KEY]).await;
    assert_eq!(kept, "new");
    assert!(old.wait().expect("it ends").success());
}
