//! How a command ends by itself, and what is said of it.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use baton_cli::guard::{Ending, Guard, Report};
use rustix::process::{Signal, kill_process};

use crate::stage::{
    Stage, child_of, found, from_now, guard, is_alive, long_window, next, pid, started, until,
    window,
};

/// Runs a script to its end and says what was reported after its start.
async fn end_of(script: &str) -> (Report, Report) {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script(script, long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    let reports = (next(&mut guard).await, next(&mut guard).await);
    stage.assert_nothing_runs();
    guard.close().await.expect("the guard ends");
    reports
}

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    let expected = |ending| (Report::Exited(ending), Report::Stopped);
    assert_eq!(end_of("exit 0").await, expected(Ending::Code(0)));
    assert_eq!(end_of("exit 7").await, expected(Ending::Code(7)));
    assert_eq!(end_of("kill -USR1 $$").await, expected(Ending::Signal(10)));
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_stopped_with_it() {
    let script = "
        (trap '' TERM; while [ -e $STAGE ]; do sleep 0.05; done) &
        setsid sh -c 'echo > away; exec sleep 30' &
        while ! [ -e away ]; do sleep 0.01; done
        exit 3";
    let expected = (Report::Exited(Ending::Code(3)), Report::Stopped);
    assert_eq!(end_of(script).await, expected);
}

#[tokio::test]
async fn a_guard_serves_one_term_after_another() {
    let stage = Stage::new();
    let mut guard = guard();
    for code in [1, 2, 3] {
        guard.start(stage.script(&format!("exit {code}"), long_window())).expect("nothing runs");
        assert!(guard.start(stage.script("exit 0", long_window())).is_err());
        started(&mut guard).await;
        assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(code)));
        assert_eq!(next(&mut guard).await, Report::Stopped);
        // Late words about a term that is over do no harm to the next.
        guard.stop(from_now(0)).expect("the guard lives");
        guard.extend(window(0, 0)).expect("the guard lives");
    }
}

/// Between terms a process waits to become the next command. It is the guard's alone: that
/// it was killed, or that the guard ends, leaves nothing behind and holds nothing up.
#[tokio::test]
async fn a_process_that_waits_to_become_the_command_can_be_replaced() {
    let stage = Stage::new();
    let mut guard = guard();
    for code in [1, 2] {
        let waits = found(async || child_of(guard.pid())).await;
        kill_process(pid(waits), Signal::KILL).expect("it is ours");
        until(|| !is_alive(waits)).await;
        guard.start(stage.script(&format!("exit {code}"), long_window())).expect("nothing runs");
        assert_ne!(started(&mut guard).await, waits);
        assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(code)));
        assert_eq!(next(&mut guard).await, Report::Stopped);
    }
    let waits = found(async || child_of(guard.pid())).await;
    guard.close().await.expect("the guard ends");
    assert!(!is_alive(waits));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let stage = Stage::new();
    let mut guard = guard();
    let mut start = stage.script("", long_window());
    start.program = "no-such-program".into();
    guard.start(start).expect("nothing runs yet");
    let error = "cannot start no-such-program: No such file or directory (os error 2); \
                 is it installed, and is its folder in PATH?";
    let report = next(&mut guard).await;
    assert_eq!(report, Report::FailedToStart { error: error.to_owned() });
    assert_eq!(next(&mut guard).await, Report::Stopped);

    guard.start(stage.script("exit 4", long_window())).expect("the failed one is over");
    started(&mut guard).await;
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(4)));
}

#[tokio::test]
async fn a_window_that_has_closed_starts_nothing() {
    let stage = Stage::new();
    let mut guard = guard();
    guard.start(stage.script("echo > ran", window(0, 60_000))).expect("nothing runs yet");
    let report = next(&mut guard).await;
    assert!(
        matches!(&report, Report::FailedToStart { error } if error.contains("window closed")),
        "{report:?}"
    );
    assert_eq!(next(&mut guard).await, Report::Stopped);
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn signals_reach_the_command() {
    let stage = Stage::new();
    let mut guard = guard();
    let script = "trap 'exit 9' USR2; echo > ready; while [ -e $STAGE ]; do sleep 0.02; done";
    guard.start(stage.script(script, long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    stage.line("ready").await;
    assert!(guard.signal(0).is_err());
    guard.signal(Signal::USR2.as_raw()).expect("the guard lives");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(9)));
}

#[tokio::test]
async fn a_pipe_on_standard_input_reaches_the_command_and_no_other_descriptor_does() {
    let stage = Stage::new();
    let (read, mut write) = std::io::pipe().expect("a pipe");
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let baton = Path::new(env!("CARGO_BIN_EXE_baton"));
    let guard = Guard::spawn_as(baton, read.as_fd(), &[held.as_fd()]);
    let mut guard = guard.expect("the program was built");
    let script = "ls -l /proc/$$/fd > fds; read -r line; echo \"$line\" > heard";
    guard.start(stage.script(script, long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    write.write_all(b"hello there\n").expect("the guard holds the other end");
    assert_eq!(stage.line("heard").await, "hello there");
    let fds = stage.line("fds").await;
    assert!(fds.contains("0 -> pipe:") && !fds.contains("socket:"), "{fds}");
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(0)));
}

#[tokio::test]
async fn a_command_finds_its_signals_as_a_shell_would_leave_them() {
    let stage = Stage::new();
    let mut guard = guard();
    let script = "exec sed -n 's/^Sig\\(Blk\\|Ign\\):.//p' /proc/self/status > masks";
    guard.start(stage.script(script, long_window())).expect("nothing runs yet");
    started(&mut guard).await;
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Code(0)));
    let masks = stage.line("masks").await;
    let [blocked, ignored] = masks.lines().collect::<Vec<_>>()[..] else {
        unreachable!("two lines were asked for: {masks}");
    };
    let ours = [Signal::PIPE, Signal::TERM, Signal::INT, Signal::HUP, Signal::CHILD];
    let bits = ours.iter().fold(0, |bits, signal| bits | 1 << (signal.as_raw() - 1));
    for mask in [blocked, ignored] {
        let mask = u64::from_str_radix(mask, 16).expect("a mask in hexadecimal");
        assert_eq!(mask & bits, 0, "{masks}");
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_are_however_odd_and_long() {
    let stage = Stage::new();
    let mut guard = guard();
    let odd = std::ffi::OsString::from_vec(b"a \xff\n\"b\"".to_vec());
    let mut start = stage.script("printf '%s' \"$1\" > odd; shift; echo $# > count", long_window());
    start.args.push("name".into());
    start.args.push(odd.clone());
    // More than a socket takes at once.
    start.args.extend(vec![std::ffi::OsString::from("x".repeat(100_000)); 10]);
    guard.start(start).expect("nothing runs yet");
    started(&mut guard).await;
    assert_eq!(stage.line("count").await, "10");
    let came = std::fs::read(stage.path("odd")).expect("written before the count");
    assert_eq!(came, odd.into_vec());
    until(|| stage.marked().is_empty()).await;
}
