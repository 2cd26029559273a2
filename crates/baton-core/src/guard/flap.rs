//! Flapping: leadership that changes too often.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::Event;
use crate::time::{Moment, whole_ms};

/// Remembers the last changes, no more than it needs.
#[derive(Clone, Debug, Hash)]
pub struct FlapWatch {
    threshold: u32,
    window: Duration,
    changes: VecDeque<Moment>,
}

impl FlapWatch {
    /// Warns of `threshold` changes within `window`.
    pub fn new(threshold: u32, window: Duration) -> Self {
        Self { threshold, window, changes: VecDeque::new() }
    }

    /// Another node leads. Returns a warning when that is once too often; then counts afresh.
    pub fn changed(&mut self, now: Moment) -> Option<Event> {
        self.changes.push_back(now);
        while self.changes.front().is_some_and(|&first| now.since(first) > self.window) {
            self.changes.pop_front();
        }
        let changes = self.changes.len() as u32;
        if changes < self.threshold {
            return None;
        }
        self.changes.clear();
        Some(Event::LeaderFlapping { changes, window_ms: whole_ms(self.window) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warns_at_the_threshold_within_the_window_only() {
        let mut watch = FlapWatch::new(3, Duration::from_secs(10));
        let at = |s: u64| Moment::from_micros(s * 1_000_000);
        assert_eq!(watch.changed(at(0)), None);
        assert_eq!(watch.changed(at(1)), None);
        assert_eq!(watch.changed(at(20)), None);
        assert_eq!(watch.changed(at(21)), None);
        let warning = Event::LeaderFlapping { changes: 3, window_ms: 10_000 };
        assert_eq!(watch.changed(at(22)), Some(warning));
        assert_eq!(watch.changed(at(23)), None);
    }
}
