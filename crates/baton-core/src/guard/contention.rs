//! Contention: a beat that took much longer than it should, reported at a bounded rate.

use std::time::Duration;

use crate::event::Event;
use crate::settings::ContentionSettings;
use crate::time::{Moment, whole_ms};

/// Watches how long beats take, from when they were due to their reply.
#[derive(Clone, Debug, Default, Hash)]
pub struct Contention {
    last_reported: Option<Moment>,
}

impl Contention {
    /// A beat that was due at `due` came through at `now`.
    pub fn beat_done(
        &mut self,
        now: Moment,
        due: Moment,
        expected: Duration,
        settings: &ContentionSettings,
    ) -> Option<Event> {
        let duration = now.since(due);
        let ratio = duration.as_secs_f64() / expected.as_secs_f64();
        let quiet = self.last_reported.is_some_and(|told| now.since(told) < settings.rate_limit);
        if !settings.enabled || ratio <= settings.threshold || quiet {
            return None;
        }
        self.last_reported = Some(now);
        let (duration_ms, expected_ms) = (whole_ms(duration), whole_ms(expected));
        Some(Event::ContentionDetected { ratio, duration_ms, expected_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_beat_is_told_once_per_rate_limit() {
        let settings = ContentionSettings::default();
        let mut contention = Contention::default();
        let expected = Duration::from_secs(5);
        let at = |s: u64| Moment::from_micros(s * 1_000_000);
        assert_eq!(contention.beat_done(at(10), at(0), expected, &settings), None);
        let event = contention.beat_done(at(31), at(20), expected, &settings);
        let told =
            Event::ContentionDetected { ratio: 2.2, duration_ms: 11_000, expected_ms: 5_000 };
        assert_eq!(event, Some(told));
        assert_eq!(contention.beat_done(at(60), at(40), expected, &settings), None);
        assert!(contention.beat_done(at(62), at(40), expected, &settings).is_some());
    }
}
