//! Clocks for stores, wrappers and tests. The core never sees one: it is handed the time.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::time::Moment;
use tokio::sync::watch;

/// A clock that can be read and waited on.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The monotonic reading. Never goes back, never stepped.
    fn now(&self) -> Moment;

    /// Unix milliseconds, for people. May be wrong and may be stepped.
    fn wall_ms(&self) -> u64;

    /// Waits until this much time has passed on this clock.
    async fn sleep(&self, span: Duration);
}

/// A clock that moves only when told to: time in tests is an argument too.
pub struct ManualClock {
    now: watch::Sender<Moment>,
    wall_offset_ms: Mutex<u64>,
}

impl Default for ManualClock {
    fn default() -> Self {
        let (now, _) = watch::channel(Moment::from_micros(1_000_000));
        Self { now, wall_offset_ms: Mutex::new(1_700_000_000_000) }
    }
}

impl ManualClock {
    /// Lets time pass, and wakes the tasks that wait for it.
    pub fn advance(&self, span: Duration) {
        self.now.send_modify(|now| *now = *now + span);
    }

    /// Steps the wall clock; the monotonic reading does not notice.
    pub fn step_wall(&self, offset_ms: u64) {
        *self.wall_offset_ms.lock().expect("no holder of this lock panics") = offset_ms;
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Moment {
        *self.now.borrow()
    }

    fn wall_ms(&self) -> u64 {
        let offset = *self.wall_offset_ms.lock().expect("no holder of this lock panics");
        offset + self.now().as_micros() / 1_000
    }

    async fn sleep(&self, span: Duration) {
        let until = self.now() + span;
        let mut moves = self.now.subscribe();
        // The sender lives as long as `self`, so the wait ends only when the time has come.
        let _ = moves.wait_for(|now| *now >= until).await;
    }
}

/// Notices time that the unsteppable clock did not count: a virtual machine was frozen, all its
/// clocks with it, until its wall clock was put right. A wall clock that was wrong and is stepped
/// forward looks the same; one that goes back is ignored.
#[derive(Clone, Copy, Debug)]
pub struct LeapWatch {
    /// How far the wall clock is ahead, in microseconds.
    offset: i64,
}

/// Less than this is how two clocks are read one after the other on a busy machine, or how a wall
/// clock is corrected; a safety margin covers it.
const SMALLEST_LEAP: Duration = Duration::from_millis(100);

impl LeapWatch {
    /// Watches from now on.
    pub fn new(clock: &dyn Clock) -> Self {
        Self { offset: offset(clock) }
    }

    /// How much time passed uncounted since the last look, if it is worth telling.
    pub fn look(&mut self, clock: &dyn Clock) -> Option<Duration> {
        let offset = offset(clock);
        let ahead = u64::try_from(offset.saturating_sub(self.offset)).unwrap_or(0);
        let ahead = Duration::from_micros(ahead);
        let leapt = ahead >= SMALLEST_LEAP;
        // Small steps add up until they are worth telling.
        if leapt || offset < self.offset {
            self.offset = offset;
        }
        leapt.then_some(ahead)
    }
}

fn offset(clock: &dyn Clock) -> i64 {
    let micros = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let wall = micros(clock.wall_ms().saturating_mul(1_000));
    wall.saturating_sub(micros(clock.now().as_micros()))
}

/// The machine's own clock: the time since it was booted, suspend included. It cannot be stepped.
/// Every process of one machine reads the same one, and its origin is the boot.
///
/// Linux has it as `CLOCK_BOOTTIME`. macOS counts suspend in `CLOCK_MONOTONIC`. On other systems
/// that clock may stand still during a suspend: there a machine that leads must not be suspended.
///
/// A sleep is measured by the runtime's timer, which stands still during a suspend: after waking,
/// read [`Clock::now`] and compare.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The clock that counts while the machine is suspended, on Linux and macOS.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSTEPPABLE: rustix::time::ClockId = rustix::time::ClockId::Boottime;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const UNSTEPPABLE: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let reading = rustix::time::clock_gettime(UNSTEPPABLE);
        let (seconds, nanos) = (reading.tv_sec.unsigned_abs(), reading.tv_nsec.unsigned_abs());
        Moment::from_micros(seconds * 1_000_000 + nanos / 1_000)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn wall_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, baton_core::time::whole_ms)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_only_the_wall_clock_counted_is_told_once() {
        let clock = ManualClock::default();
        let start = 1_700_000_000_000;
        let mut watch = LeapWatch::new(&clock);
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(watch.look(&clock), None, "both clocks counted it");
        clock.step_wall(start + 7_000);
        assert_eq!(watch.look(&clock), Some(Duration::from_secs(7)));
        assert_eq!(watch.look(&clock), None);
        clock.step_wall(start - 60_000);
        assert_eq!(watch.look(&clock), None, "a step back is no leap");
        for step in 1..=3 {
            clock.step_wall(start - 60_000 + step * 40);
            let told = (step == 3).then_some(Duration::from_millis(120));
            assert_eq!(watch.look(&clock), told, "small ones add up");
        }
    }
}
