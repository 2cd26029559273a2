//! A term that is told to end.

use baton_cli::guard::{Ending, Report};
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Signal, getpgid, getsid, kill_process};

use crate::stage::{
    STUBBORN, Stage, child_of, found, from_now, guard, is_alive, long_window, next, pid, started,
    state, until, uptime,
};

const TERM: i32 = 15;
const KILL: i32 = 9;

#[tokio::test]
async fn a_command_that_hears_term_ends_at_once() {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script("exec sleep 30", long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    let by = from_now(60_000);
    guard.stop(by).expect("the guard lives");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(TERM)));
    assert_eq!(next(&mut guard).await, Report::Stopped);
    assert!(SystemClock.now() < by - std::time::Duration::from_secs(30));
    stage.assert_nothing_runs();
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed_in_time() {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script(STUBBORN, long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    stage.line("ran").await;
    let by = from_now(1_500);
    guard.stop(by).expect("the guard lives");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(KILL)));
    assert_eq!(next(&mut guard).await, Report::Stopped);
    stage.assert_nothing_runs();
    assert!(uptime(&stage.line("heard").await) < by);
    let ran = stage.line("ran").await;
    assert!(uptime(ran.lines().last().expect("it ran")) < by);
}

#[tokio::test]
async fn no_process_gets_away_not_even_a_daemon() {
    let stage = Stage::new();
    let mut guard = guard();
    let script = "
        trap '' TERM
        (sleep 30 & sleep 30 & echo $! > group; wait) &
        setsid sh -c '(setsid sleep 30 & echo $! > daemon); sleep 30; sleep 30' &
        wait; sleep 30";
    guard.start(stage.script(script, long_window())).expect("nothing runs yet");
    let command = started(&mut guard).await;
    let member: i32 = stage.line("group").await.parse().expect("a process id");
    let daemon: i32 = stage.line("daemon").await.parse().expect("a process id");
    assert_eq!(getpgid(Some(pid(member))), Ok(pid(command)));
    until(|| getsid(Some(pid(daemon))) == Ok(pid(daemon))).await;
    assert!(stage.marked().len() >= 6);

    guard.stop(from_now(800)).expect("the guard lives");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(KILL)));
    assert_eq!(next(&mut guard).await, Report::Stopped);
    stage.assert_nothing_runs();
}

#[tokio::test]
async fn a_paused_command_is_stopped_too() {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script("exec sleep 30", long_window())).expect("nothing runs yet");
    let command = started(&mut guard).await;
    guard.signal(Signal::STOP.as_raw()).expect("the guard lives");
    until(|| state(command) == Some('T')).await;
    guard.stop(from_now(60_000)).expect("the guard lives");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(TERM)));
    assert!(!is_alive(command));
}

#[tokio::test]
async fn the_guard_shrugs_off_what_service_managers_send_to_every_process() {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script("exec sleep 30", long_window())).expect("nothing runs yet");
    let command = started(&mut guard).await;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1] {
        kill_process(pid(guard.pid()), signal).expect("the guard lives");
    }
    guard.signal(Signal::INT.as_raw()).expect("the guard lives");
    // Had the guard taken one of them to heart, there would be no report but its loss.
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(2)));
    assert!(!is_alive(command));
}

#[tokio::test]
async fn a_search_for_baton_finds_neither_the_guard_nor_what_becomes_the_command() {
    let guard = guard();
    let waits = found(async || child_of(guard.pid())).await;
    for process in [guard.pid(), waits] {
        let read = |what: &str| std::fs::read_to_string(format!("/proc/{process}/{what}"));
        until(|| read("comm").is_ok_and(|name| name == "guard\n")).await;
        let line = read("cmdline").expect("it runs");
        assert!(line.starts_with("guard-of-") && !line.contains("baton"), "{line:?}");
    }
}

#[tokio::test]
async fn a_guard_that_hangs_without_a_command_does_not_keep_its_handle_waiting() {
    let guard = guard();
    let process = guard.pid();
    found(async || child_of(process)).await;
    kill_process(pid(process), Signal::STOP).expect("the guard lives");
    let closed = tokio::select! {
        closed = guard.close() => closed.is_ok(),
        () = SystemClock.sleep(std::time::Duration::from_secs(20)) => false,
    };
    let still_lives = is_alive(process);
    if still_lives {
        kill_process(pid(process), Signal::KILL).expect("it was not waited for");
    }
    assert!(closed && !still_lives);
}
