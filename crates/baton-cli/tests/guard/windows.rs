//! A term whose window closes without an order to stop.

use baton_cli::guard::{Ending, Report};
use baton_store::clock::{Clock, SystemClock};
use std::time::Duration;

use crate::stage::{STUBBORN, Stage, found, guard, next, started, uptime, window};

/// The most by which `/proc/uptime` is rounded down.
const ROUNDING: Duration = Duration::from_millis(10);

#[tokio::test]
async fn without_a_renewal_term_comes_at_soft_and_kill_before_hard() {
    let stage = Stage::new();
    let mut guard = guard();
    let window = window(500, 1_700);
    guard.start(stage.script(STUBBORN, window)).expect("nothing runs yet");
    started(&mut guard).await;
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(9)));
    assert_eq!(next(&mut guard).await, Report::Stopped);
    assert!(SystemClock.now() < window.hard);
    stage.assert_nothing_runs();
    let heard = uptime(&stage.line("heard").await);
    assert!(heard >= window.soft - ROUNDING && heard < window.hard, "{heard:?} {window:?}");
    let ran = stage.line("ran").await;
    let last = uptime(ran.lines().last().expect("it ran"));
    assert!(last > window.soft && last < window.hard, "{last:?} {window:?}");
}

#[tokio::test]
async fn renewals_keep_a_command_running() {
    let stage = Stage::new();
    let mut guard = guard();
    let first = window(600, 1_000);
    guard.start(stage.script(STUBBORN, first)).expect("nothing runs yet");
    started(&mut guard).await;
    let mut last = first;
    let renewed_long_enough = async || {
        last = window(600, 1_000);
        guard.extend(last).expect("the guard lives");
        (SystemClock.now() > first.hard + Duration::from_millis(300)).then_some(())
    };
    found(renewed_long_enough).await;
    assert!(!stage.path("heard").exists());
    assert_eq!(next(&mut guard).await, Report::Exited(Ending::Signal(9)));
    let heard = uptime(&stage.line("heard").await);
    assert!(heard >= last.soft - ROUNDING && heard < last.hard, "{heard:?} {last:?}");
}
