//! Signals to baton, and who is left after them.

use std::time::Duration;

use baton::clock::Moment;
use rustix::process::Signal;

use crate::running::Running;
use crate::stage::{ALONE, FAST, FAST_LEASE, LONG, Stage, now, until};

/// Ignores TERM, in its group and out of it; none of its processes ends by itself.
const FAMILY: &str = "
    trap '' TERM
    (while :; do sleep 0.05; done) &
    setsid sh -c '(setsid sleep 600 &); echo > away; while :; do sleep 0.05; done' &
    while ! [ -e away ]; do sleep 0.01; done
    echo > ready
    while :; do read -r up _ < /proc/uptime; echo $up >> ran; sleep 0.02; done";

/// A reading of `/proc/uptime`, whose clock is that of the lease.
fn uptime(text: &str) -> Moment {
    let seconds: f64 = text.parse().expect("a reading of /proc/uptime");
    Moment::from_micros(0) + Duration::from_secs_f64(seconds)
}

async fn nothing_is_left(stage: &Stage) {
    until("everything to be gone", async || stage.marked().is_empty().then_some(())).await;
}

async fn registered(stage: &Stage) -> usize {
    let status = stage.json(&["status"]).await;
    status["members"].as_array().expect("a list").len()
}

#[tokio::test]
async fn those_that_mean_nothing_to_baton_are_passed_on() {
    let stage = Stage::new();
    let script = "trap 'echo user1 >> heard' USR1; trap 'echo hangup >> heard' HUP
        trap 'exit 6' USR2; echo > ready; while :; do sleep 0.02; done";
    let running = stage.run(ALONE, script);
    stage.line("ready").await;
    running.signal(Signal::USR1);
    assert_eq!(stage.line("heard").await, "user1");
    running.signal(Signal::HUP);
    until("both", async || (stage.line("heard").await == "user1\nhangup").then_some(())).await;
    running.signal(Signal::USR2);
    assert_eq!(running.said().await.code, Some(6));
}

#[tokio::test]
async fn an_interrupt_from_the_terminal_stops_everything_and_leaves() {
    let stage = Stage::new();
    let script = "trap 'echo asked > asked; exit 0' TERM; echo > ready
        while :; do sleep 0.02; done";
    let running = stage.run(ALONE, script);
    stage.line("ready").await;
    assert_eq!(registered(&stage).await, 1);
    running.signal_group(Signal::INT);
    // The command had the time to end as it likes.
    assert_eq!(running.said().await.code, Some(0));
    assert_eq!(stage.line("asked").await, "asked");
    assert_eq!(registered(&stage).await, 0);
    nothing_is_left(&stage).await;
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed_with_its_family_before_the_lease_is_over() {
    let stage = Stage::new();
    let running = stage.run(&[FAST, ALONE].concat(), FAMILY);
    stage.line("ready").await;
    running.signal(Signal::TERM);
    let asked = now();
    let said = running.said().await;
    assert_eq!(said.code, Some(128 + 9), "{}", said.err);
    let ran = stage.line("ran").await;
    let last = uptime(ran.lines().last().expect("it ran"));
    assert!(last < asked + FAST_LEASE, "{:?}", last.since(asked));
    assert_eq!(registered(&stage).await, 0);
    nothing_is_left(&stage).await;
}

#[tokio::test]
async fn a_stop_that_is_asked_for_takes_its_grace_not_the_lease() {
    let stage = Stage::new();
    for flags in [&[LONG, ALONE].concat(), &vec!["--enabled=false", "--stop-grace=1s"]] {
        let running = stage.run(flags, "trap '' TERM; echo > ready; while :; do sleep 0.02; done");
        stage.line("ready").await;
        running.signal(Signal::TERM);
        // It is waited for much longer than its grace, and much shorter than the lease.
        let said = running.said().await;
        assert_eq!(said.code, Some(128 + 9), "{}", said.err);
        std::fs::remove_file(stage.path("ready")).expect("the command made it");
    }
    assert_eq!(registered(&stage).await, 0);
    nothing_is_left(&stage).await;
}

#[tokio::test]
async fn a_store_that_does_not_answer_keeps_no_node_from_leaving() {
    let stage = Stage::new();
    let script = "trap 'exit 3' TERM; echo > ready; while :; do sleep 0.02; done";
    let running = stage.run(&[LONG, ALONE].concat(), script);
    stage.line("ready").await;
    let other = rusqlite::Connection::open(stage.path("baton.db")).expect("it is there");
    other.busy_timeout(FAST_LEASE).expect("a valid span");
    other.execute_batch("BEGIN IMMEDIATE").expect("no process writes for long");
    running.signal(Signal::TERM);
    let said = running.said().await;
    assert_eq!(said.code, Some(3), "{}", said.err);
    assert!(said.err.contains("exits without having left"), "{}", said.err);
    other.execute_batch("ROLLBACK").expect("it was begun");
    assert_eq!(registered(&stage).await, 1, "its record runs out by itself");
    nothing_is_left(&stage).await;
}

#[tokio::test]
async fn a_stubborn_command_never_runs_beside_its_successor() {
    let stage = Stage::new();
    let script = "trap '' TERM; while :; do echo $BATON_EPOCH >> epochs; sleep 0.01; done";
    let first = stage.run(&[FAST, &["--id", "a"]].concat(), script);
    stage.line("epochs").await;
    let second = stage.run(&[FAST, &["--id", "b"]].concat(), script);
    until("the standby", async || second.err().contains("b stands by").then_some(())).await;
    first.signal(Signal::TERM);
    assert_eq!(first.said().await.code, Some(128 + 9));
    let taken = async || stage.line("epochs").await.ends_with('2').then_some(());
    until("the next one's command", taken).await;
    let written = stage.line("epochs").await;
    let epochs: Vec<u64> = written.lines().map(|line| line.parse().expect("an epoch")).collect();
    assert!(epochs.is_sorted(), "{written}");
    drop(second);
    nothing_is_left(&stage).await;
}

#[tokio::test]
async fn killed_outright_baton_takes_everything_along() {
    let stage = Stage::new();
    // Nothing but its death can end them while this test waits: the lease is longer than that.
    let mut running: Running = stage.run(&[LONG, ALONE].concat(), FAMILY);
    stage.line("ready").await;
    assert!(stage.marked().len() > 4, "{:?}", stage.marked());
    running.signal(Signal::KILL);
    running.ended().await;
    nothing_is_left(&stage).await;
}
