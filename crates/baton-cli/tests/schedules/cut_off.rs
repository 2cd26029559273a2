//! A run whose leader is killed, stopped or paused in the middle of it.

use baton_testbed::Kind;
use rustix::process::Signal;

use crate::stage::{QUICK, STEADY, Stage, until};

/// While a run is under way, the slots that come are skipped.
const EVERY_SECOND: &[&str] = &["--cron=* * * * * *", "--overlap=skip"];

/// The first attempt goes on for ever, any later one ends at once.
const STUCK_FIRST: &str = "echo $BATON_SLOT $BATON_ATTEMPT $BATON_NODE_ID >> runs
    [ $BATON_ATTEMPT = 1 ] && [ ! -e free ] && { echo > stuck; exec sleep 600; }
    echo $BATON_SLOT >> done";

/// Runs it until the first attempt is stuck, ends its leader so, and lets the other go on.
async fn ended_by(
    signal: Signal,
    (kind, timing): (Option<Kind>, &[&str]),
    policy: &[&str],
) -> (Stage, Vec<(u32, String)>) {
    let stage = Stage::new(kind).await;
    let flags = [timing, EVERY_SECOND, policy].concat();
    let first = stage.replica_with("a", &flags, STUCK_FIRST);
    until("the first attempt", async || stage.path("stuck").exists().then_some(())).await;
    let _second = stage.replica_with("b", &flags, STUCK_FIRST);
    let stands_by = || stage.said_by("b").contains("stands by");
    until("the other to wait", async || stands_by().then_some(())).await;
    std::fs::write(stage.path("free"), "").expect("a writable folder");
    first.signal(signal);
    let slot = stage.runs().0[0].slot.clone();
    let done = || std::fs::read_to_string(stage.path("done")).unwrap_or_default();
    until("the next run", async || (!done().is_empty()).then_some(())).await;
    let of_slot = stage.runs().0.into_iter().filter(|start| start.slot == slot);
    let starts = of_slot.map(|start| (start.attempt, start.node)).collect();
    (stage, starts)
}

fn twice() -> Vec<(u32, String)> {
    vec![(1, "a".to_owned()), (2, "b".to_owned())]
}

fn once() -> Vec<(u32, String)> {
    vec![(1, "a".to_owned())]
}

#[tokio::test]
async fn a_run_that_is_killed_is_run_again_by_the_next_leader() {
    let (stage, starts) = ended_by(Signal::KILL, (None, STEADY), &[]).await;
    assert_eq!(starts, twice(), "{}", stage.said_by("b"));
}

#[tokio::test]
async fn a_run_that_a_deploy_stops_is_run_again_too() {
    let (stage, starts) = ended_by(Signal::TERM, (None, STEADY), &[]).await;
    assert_eq!(starts, twice(), "{}", stage.said_by("b"));
}

#[tokio::test]
async fn a_run_that_is_killed_is_not_run_again_if_that_is_asked_for() {
    let (stage, starts) = ended_by(Signal::KILL, (None, STEADY), &["--on-crash=skip"]).await;
    assert_eq!(starts, once(), "{}", stage.said_by("b"));
    assert!(stage.said_by("b").contains("was cut off and is not run again"));
}

#[tokio::test]
async fn a_paused_leader_does_not_go_on_with_its_run() {
    // One that is paused in the middle of a write keeps an embedded store locked until it goes on.
    let on_a_server = (Some(Kind::Postgres), QUICK);
    let (stage, starts) = ended_by(Signal::STOP, on_a_server, &[]).await;
    assert_eq!(starts, twice(), "{}", stage.said_by("b"));
}
