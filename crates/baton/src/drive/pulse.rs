//! The sign that a node's thread still turns, for the probe by which a process is restarted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::settings::Settings;
use baton_core::time::Moment;

/// When the thread last came by a node. Written by that thread alone, read without any lock: a
/// thread that hangs may hold one.
pub(crate) struct Pulse {
    turned_at: AtomicU64,
    every: Duration,
    #[cfg(feature = "http")]
    limit: Duration,
}

impl Pulse {
    /// The pulse of a node with these settings, which begins at `now`.
    ///
    /// The thread comes by once a beat at least, whatever the store, the breaker or the mode leave
    /// to do. Silence for two beats and the time of a request is more than lateness.
    pub(crate) fn new(settings: &Settings, now: Moment) -> Self {
        let every = settings.heartbeat_interval + settings.heartbeat_jitter;
        Self {
            turned_at: AtomicU64::new(now.as_micros()),
            every,
            #[cfg(feature = "http")]
            limit: 2 * every + settings.request_timeout,
        }
    }

    /// The thread has come by.
    pub(crate) fn turn(&self, now: Moment) {
        self.turned_at.store(now.as_micros(), Ordering::Release);
    }

    /// When the thread must come by again.
    pub(crate) fn due(&self) -> Moment {
        self.turned_at() + self.every
    }

    /// For how long the thread has not come by, and for how long it may not, if that is too long.
    #[cfg(feature = "http")]
    pub(crate) fn overdue(&self, now: Moment) -> Option<(Duration, Duration)> {
        let silent = now.since(self.turned_at());
        (silent > self.limit).then_some((silent, self.limit))
    }

    fn turned_at(&self) -> Moment {
        Moment::from_micros(self.turned_at.load(Ordering::Acquire))
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
        let pulse = Pulse::new(&settings, start);
        assert_eq!(pulse.due(), start + beat);
        assert_eq!(pulse.overdue(start + limit), None);
        let late = limit + Duration::from_millis(1);
        assert_eq!(pulse.overdue(start + late), Some((late, limit)));
        pulse.turn(start + late);
        assert_eq!(pulse.overdue(start + late), None);
    }
}
