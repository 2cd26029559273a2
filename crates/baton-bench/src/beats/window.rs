//! What came between two readings.

use std::time::Duration;

use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

use super::fleet::Fleet;
use super::server_counter::ServerCounter;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::percentiles::Percentiles;
use crate::report::number;

/// Requests that the ends of a window may cut from their beats: one each.
const CUT_OFF: f64 = 2.0;

/// All counters at one moment.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    at: Moment,
    beats: u64,
    trips: Option<u64>,
    counted: Option<u64>,
    cpu: Option<Duration>,
}

impl Reading {
    /// Reads all counters, one right after the other.
    pub async fn take(
        fixture: &Fixture,
        fleet: &Fleet,
        counter: &mut ServerCounter,
    ) -> Result<Self, BenchError> {
        let counted = counter.count().await?;
        let (at, beats, trips) = (SystemClock.now(), fleet.beats(), fixture.round_trips());
        Ok(Self { at, beats, trips, counted, cpu: fixture.cpu() })
    }
}

/// What the difference of two readings shows.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Beats that came through.
    pub beats: u64,
    trips: Option<u64>,
    counted: Option<u64>,
    latency: Option<Percentiles>,
    cpu_percent: Option<f64>,
}

impl Figures {
    /// What came between two readings, and what beats took meanwhile.
    pub fn between(before: &Reading, after: &Reading, times_ms: &[f64]) -> Self {
        let more = |(before, after): (u64, u64)| after.saturating_sub(before);
        let elapsed = after.at.since(before.at).as_secs_f64();
        let cpu = before.cpu.zip(after.cpu).map(|(before, after)| after.saturating_sub(before));
        Self {
            beats: more((before.beats, after.beats)),
            trips: before.trips.zip(after.trips).map(more),
            counted: before.counted.zip(after.counted).map(more),
            latency: Percentiles::of(times_ms),
            cpu_percent: cpu.map(|cpu| cpu.as_secs_f64() / elapsed * 1e2),
        }
    }

    /// Round trips for each beat, if they can be counted.
    pub fn trips_a_beat(&self) -> Option<f64> {
        self.a_beat(self.trips)
    }

    /// Were there at most this many for each beat? What the window's ends may have cut is not held
    /// against them.
    pub fn is_within(&self, most: f64) -> bool {
        self.trips.is_none_or(|trips| trips as f64 <= most * self.beats as f64 + CUT_OFF)
    }

    fn a_beat(&self, count: Option<u64>) -> Option<f64> {
        count.filter(|_| self.beats > 0).map(|count| count as f64 / self.beats as f64)
    }

    /// For the table: beats, trips, what the server counted, latencies, CPU.
    pub fn cells(&self) -> [String; 6] {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), number);
        [
            self.beats.to_string(),
            shown(self.a_beat(self.trips)),
            shown(self.a_beat(self.counted)),
            shown(self.latency.map(|spread| spread.median)),
            shown(self.latency.map(|spread| spread.p99)),
            shown(self.cpu_percent),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(seconds: u64, beats: u64, trips: u64) -> Reading {
        Reading {
            at: Moment::from_micros(seconds * 1_000_000),
            beats,
            trips: Some(trips),
            counted: None,
            cpu: Some(Duration::from_millis(10 * seconds)),
        }
    }

    #[test]
    fn only_what_came_in_between_counts() {
        let figures = Figures::between(&reading(10, 100, 500), &reading(20, 150, 555), &[2.0]);
        assert_eq!(figures.trips_a_beat(), Some(1.1));
        assert_eq!(figures.cells(), ["50", "1.10", "-", "2", "2", "1"]);
    }

    #[test]
    fn a_request_at_each_end_is_forgiven_and_no_more() {
        let within =
            |trips| Figures::between(&reading(1, 0, 0), &reading(2, 50, trips), &[]).is_within(1.1);
        assert!(within(57) && !within(58));
    }

    #[test]
    fn without_beats_there_is_nothing_to_divide_by() {
        let figures = Figures::between(&reading(1, 5, 0), &reading(2, 5, 9), &[]);
        assert_eq!(figures.trips_a_beat(), None);
    }
}
