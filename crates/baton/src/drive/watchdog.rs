//! The sign that a node's thread still turns, for the probe by which a process is restarted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::settings::Settings;
use baton_core::time::Moment;

/// When the thread last served a node. Written by that thread alone, read without any lock: a
/// thread that hangs may hold one.
pub(crate) struct Watchdog {
    served_at: AtomicU64,
    every: Duration,
    #[cfg(feature = "http")]
    limit: Duration,
}

impl Watchdog {
    /// The watchdog of a node with these settings, which begins at `now`.
    ///
    /// The thread serves a node once a beat at least, whatever the store, the breaker or the mode
    /// leave to do. Silence for two beats and the time of a request is more than lateness.
    pub(crate) fn new(settings: &Settings, now: Moment) -> Self {
        let every = settings.heartbeat_interval + settings.heartbeat_jitter;
        Self {
            served_at: AtomicU64::new(now.as_micros()),
            every,
            #[cfg(feature = "http")]
            limit: 2 * every + settings.request_timeout,
        }
    }

    pub(crate) fn reset(&self, now: Moment) {
        self.served_at.store(now.as_micros(), Ordering::Release);
    }

    pub(crate) fn due(&self) -> Moment {
        self.served_at() + self.every
    }

    /// For how long the thread has not served the node, and the limit, if that is exceeded.
    #[cfg(feature = "http")]
    pub(crate) fn overdue(&self, now: Moment) -> Option<(Duration, Duration)> {
        let silent = now.since(self.served_at());
        (silent > self.limit).then_some((silent, self.limit))
    }

    fn served_at(&self) -> Moment {
        Moment::from_micros(self.served_at.load(Ordering::Acquire))
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn it_is_overdue_after_two_beats_and_a_request() {
        let settings = Settings::default();
        let beat = settings.heartbeat_interval + settings.heartbeat_jitter;
        let limit = 2 * beat + settings.request_timeout;
        let start = Moment::from_micros(7);
        let watchdog = Watchdog::new(&settings, start);
        assert_eq!(watchdog.due(), start + beat);
        assert_eq!(watchdog.overdue(start + limit), None);
        let late = limit + Duration::from_millis(1);
        assert_eq!(watchdog.overdue(start + late), Some((late, limit)));
        watchdog.reset(start + late);
        assert_eq!(watchdog.overdue(start + late), None);
    }
}
