//! The clock that deadlines are judged by.

use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use rustix::time::{ClockId, clock_gettime};

use super::Finding;
use crate::output::times::{span, utc};

/// How long the clock is watched.
const WATCHED: Duration = Duration::from_millis(50);

/// Much longer than that, and the machine is too busy, or its clock runs wild.
const WATCHED_MAX: Duration = Duration::from_secs(2);

/// 2020: an older wall clock was never set.
const WALL_MIN_MS: u64 = 1_577_836_800_000;

/// Checks the clock of deadlines, which cannot be stepped, and the wall clock.
pub async fn examine() -> Vec<Finding> {
    vec![moves().await, counts_suspend(), shared(), wall()]
}

async fn moves() -> Finding {
    let before = SystemClock.now();
    SystemClock.sleep(WATCHED).await;
    let passed = SystemClock.now().since(before);
    if passed < WATCHED / 2 {
        let detail = format!("moved {} in {}", span(passed), span(WATCHED));
        return Finding::fail(
            "clock",
            detail,
            "do not run a node here: its deadlines depend on this clock",
        );
    }
    if passed > WATCHED_MAX {
        let detail = format!("a wait of {} took {}", span(WATCHED), span(passed));
        return Finding::warn("clock", detail, "the machine is overloaded: lengthen lease_timeout");
    }
    Finding::ok("clock", format!("moves, a wait of {} took {}", span(WATCHED), span(passed)))
}

/// The time since boot must not be behind the one that stands still during suspend.
fn counts_suspend() -> Finding {
    let monotonic = clock_gettime(ClockId::Monotonic);
    let since_boot = SystemClock.now();
    let least = Duration::from_secs(monotonic.tv_sec.unsigned_abs());
    let here = Duration::from_micros(since_boot.as_micros());
    if here + Duration::from_secs(1) < least {
        let detail = format!("{} since boot, but {} awake", span(here), span(least));
        return Finding::fail(
            "suspend",
            detail,
            "the boot-time clock is behind: use another kernel",
        );
    }
    Finding::ok("suspend", format!("counted: {} since boot", span(here)))
}

/// Processes with time offsets of their own cannot share a file: they read different clocks.
fn shared() -> Finding {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    let shifted = offsets.lines().any(|line| {
        let mut fields = line.split_whitespace();
        let name = fields.next();
        matches!(name, Some("boottime" | "monotonic")) && fields.any(|field| field != "0")
    });
    match shifted {
        false => Finding::ok("timens", "no time namespace: all processes read the same clock"),
        true => Finding::warn(
            "timens",
            "this process lives in a time namespace with an offset",
            "let all processes that share a file live in the same one",
        ),
    }
}

fn wall() -> Finding {
    let now = SystemClock.wall_ms();
    match now < WALL_MIN_MS {
        false => Finding::ok("date", utc(now)),
        true => Finding::warn(
            "date",
            format!("{} cannot be right", utc(now)),
            "set the clock; elections do not need it, people who read the history do",
        ),
    }
}
