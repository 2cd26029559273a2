//! Baton killed, baton paused, the guard killed, the guard paused, both at once.

use std::time::Duration;

use baton_cli::guard::{Ending, Report};
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Signal, kill_process};

use crate::driver::{Driver, Plan};
use crate::stage::{STUBBORN, Stage, found, is_alive, pid, until, uptime};

/// Ignores TERM, in its group and out of it.
const FAMILY: &str = "
    trap '' TERM
    (while [ -e $STAGE ]; do sleep 0.05; done) &
    setsid sh -c '(setsid sleep 30 &); echo > away; while [ -e $STAGE ]; do sleep 0.05; done' &
    while ! [ -e away ]; do sleep 0.01; done
    echo > ready
    while [ -e $STAGE ]; do sleep 0.05; done";

fn plan(script: &str) -> Plan {
    Plan { script: script.to_owned(), soft_ms: 60_000, hard_ms: 90_000, renews: true }
}

#[tokio::test]
async fn baton_killed_takes_everything_along_and_what_it_held_is_free_only_then() {
    let stage = Stage::new();
    let mut driver = Driver::run(&stage, &plan(FAMILY));
    stage.line("ready").await;
    let guard = driver.number("guard").await;
    assert_eq!(driver.is_free().await, (false, false));
    // The window ends long after this test has given up: nothing but the death frees them.
    driver.signal(Signal::KILL);
    let both_free = async || {
        let (port, lock) = driver.is_free().await;
        if port || lock {
            stage.assert_nothing_runs();
        }
        (port && lock).then_some(())
    };
    found(both_free).await;
    until(|| !is_alive(guard)).await;
    driver.end().await;
}

#[tokio::test]
async fn baton_paused_does_not_keep_a_command_beyond_its_window() {
    let stage = Stage::new();
    let plan = Plan { soft_ms: 1_500, hard_ms: 4_500, ..plan(STUBBORN) };
    let mut driver = Driver::run(&stage, &plan);
    stage.line("ran").await;
    driver.signal(Signal::STOP);
    let paused = SystemClock.now();
    until(|| stage.marked().is_empty()).await;
    // The last renewal was sent before the pause.
    let hard = paused + Duration::from_millis(plan.hard_ms);
    assert!(uptime(&stage.line("heard").await) < hard);
    let ran = stage.line("ran").await;
    assert!(uptime(ran.lines().last().expect("it ran")) < hard);
    driver.signal(Signal::CONT);
    driver.end().await;
    let reports: Vec<Report> = driver.reports().into_iter().map(|(_, report)| report).collect();
    assert_eq!(reports[1..], [Report::Exited(Ending::Signal(9)), Report::Stopped]);
}

#[tokio::test]
async fn the_guard_killed_is_said_only_when_everything_is_gone() {
    let stage = Stage::new();
    let mut driver = Driver::run(&stage, &plan(FAMILY));
    stage.line("ready").await;
    let guard = driver.number("guard").await;
    kill_process(pid(guard), Signal::KILL).expect("the guard lives");
    until(|| matches!(driver.reports().last(), Some((_, Report::Lost { .. })))).await;
    stage.assert_nothing_runs();
    let expected = Report::Lost { how: "signal: 9 (SIGKILL)".to_owned() };
    assert_eq!(driver.reports().last().map(|(_, report)| report), Some(&expected));
    driver.end().await;
}

#[tokio::test]
async fn a_guard_that_hangs_is_killed_before_the_window_closes() {
    let stage = Stage::new();
    let plan = Plan { soft_ms: 4_000, hard_ms: 9_000, renews: false, ..plan(FAMILY) };
    let begun = SystemClock.now();
    let mut driver = Driver::run(&stage, &plan);
    stage.line("ready").await;
    let guard = driver.number("guard").await;
    kill_process(pid(guard), Signal::STOP).expect("the guard lives");
    until(|| matches!(driver.reports().last(), Some((_, Report::Lost { .. })))).await;
    stage.assert_nothing_runs();
    let lost = driver.reports().last().map(|(at, _)| at.since(begun));
    assert!(lost >= Some(Duration::from_millis(plan.soft_ms)), "{lost:?}");
    driver.end().await;
}

#[tokio::test]
async fn a_guard_that_hangs_is_lost_although_the_lease_is_renewed_all_the_time() {
    let stage = Stage::new();
    let plan = Plan { soft_ms: 1_500, hard_ms: 3_000, ..plan(FAMILY) };
    assert!(plan.renews);
    let mut driver = Driver::run(&stage, &plan);
    stage.line("ready").await;
    let guard = driver.number("guard").await;
    kill_process(pid(guard), Signal::STOP).expect("the guard lives");
    until(|| matches!(driver.reports().last(), Some((_, Report::Lost { .. })))).await;
    stage.assert_nothing_runs();
    driver.end().await;
}

#[tokio::test]
async fn the_guard_killed_while_baton_is_paused_leaves_no_command() {
    let stage = Stage::new();
    let mut driver = Driver::run(&stage, &plan(STUBBORN));
    stage.line("ran").await;
    let guard = driver.number("guard").await;
    let started = async || {
        driver.reports().into_iter().find_map(|(_, report)| match report {
            Report::Started { pid } => Some(pid),
            _ => None,
        })
    };
    let command = found(started).await;
    driver.signal(Signal::STOP);
    kill_process(pid(guard), Signal::KILL).expect("the guard lives");
    until(|| !is_alive(command)).await;
    driver.signal(Signal::KILL);
    driver.end().await;
    assert!(!is_alive(guard));
}
