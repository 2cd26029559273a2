//! Numbers about a node's own beats and elections, as plain data.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::recent::Recent;
use crate::time::Moment;

/// What `metrics()` reports. Spans are in milliseconds, moments on the node's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MetricsReport {
    /// Beats that came through.
    pub heartbeat_count: u64,
    /// Times this node tried to take the lease.
    pub election_count: u64,
    /// How long the last election took, from the free lease to the grant.
    pub election_duration_ms: u64,
    /// Changes of leader seen.
    pub leader_changes: u64,
    /// Nodes seen to join, while this one led.
    pub worker_registrations: u64,
    /// Nodes seen to fall silent, while this one led.
    pub worker_timeouts: u64,
    /// When the node started.
    pub start_time: Moment,
    /// When its last beat came through.
    pub last_heartbeat_time: Moment,
    /// Median latency of the last beats.
    pub latency_p50_ms: f64,
    /// 95th percentile of the same.
    pub latency_p95_ms: f64,
    /// 99th percentile of the same.
    pub latency_p99_ms: f64,
    /// All latencies since the start, added up.
    pub latency_sum_ms: f64,
}

/// Counts and recent latencies. Left out of state comparison: figures for people decide nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// All but the latencies.
    pub(crate) report: MetricsReport,
    /// Shared with the last snapshot until the next beat.
    latencies: Arc<Recent>,
    latency_sum: Duration,
}

impl Metrics {
    /// Percentiles over the last `size` beats.
    pub fn new(size: u32) -> Self {
        Self {
            report: MetricsReport::default(),
            latencies: Arc::new(Recent::new(size as usize)),
            latency_sum: Duration::ZERO,
        }
    }

    pub(crate) fn beat_done(&mut self, now: Moment, latency: Duration) {
        self.report.heartbeat_count += 1;
        self.report.last_heartbeat_time = now;
        self.latency_sum += latency;
        Arc::make_mut(&mut self.latencies).push(latency);
    }

    /// The report as of now.
    pub fn report(&self) -> MetricsReport {
        let [latency_p50_ms, latency_p95_ms, latency_p99_ms] =
            self.latencies.percentiles_ms([0.50, 0.95, 0.99]);
        let latency_sum_ms = self.latency_sum.as_secs_f64() * 1e3;
        MetricsReport {
            latency_p50_ms,
            latency_p95_ms,
            latency_p99_ms,
            latency_sum_ms,
            ..self.report
        }
    }
}

/// The time in which this node knew of no leader, counted up to the last input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leaderless {
    total: Duration,
    counted_at: Option<Moment>,
}

impl Leaderless {
    pub(crate) fn started(&mut self, now: Moment) {
        self.counted_at = Some(now);
    }

    /// An input came at `now`. Since the one before, a leader was known until `led_until`.
    pub(crate) fn count(&mut self, now: Moment, led_until: Option<Moment>) {
        self.total = self.until_next_input(led_until).at(now);
        self.counted_at = self.counted_at.map(|counted| counted.max(now));
    }

    /// As it is at the node's end.
    pub(crate) fn stopped(&self) -> LeaderlessTime {
        LeaderlessTime { total: self.total, from: Moment::NEVER }
    }

    /// How it goes on until the next input, if a leader is known until `led_until`.
    pub(crate) fn until_next_input(&self, led_until: Option<Moment>) -> LeaderlessTime {
        let Some(counted) = self.counted_at else { return self.stopped() };
        let total = self.total;
        match led_until.filter(|until| *until > counted) {
            Some(until) => LeaderlessTime { total, from: until },
            // Equal for as long as no leader is known: a snapshot of it does not change.
            None => LeaderlessTime { total: Duration::ZERO, from: counted - total },
        }
    }
}

/// A time that grows from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderlessTime {
    total: Duration,
    from: Moment,
}

impl LeaderlessTime {
    /// How much it is at `now`.
    pub(crate) fn at(self, now: Moment) -> Duration {
        self.total + now.since(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_the_last_beats_only() {
        let mut metrics = Metrics::new(100);
        let now = Moment::from_micros(7);
        metrics.beat_done(now, Duration::from_secs(60));
        for ms in 1..=100 {
            metrics.beat_done(now, Duration::from_millis(ms));
        }
        let report = metrics.report();
        assert_eq!(report.heartbeat_count, 101);
        assert_eq!(report.latency_p50_ms, 50.0);
        assert_eq!(report.latency_p95_ms, 95.0);
        assert_eq!(report.latency_p99_ms, 99.0);
        assert_eq!(report.latency_sum_ms, 60_000.0 + 5_050.0);
    }

    #[test]
    fn time_without_a_coordinator_counts_from_when_the_last_one_was_known_until() {
        let at = |s: u64| Moment::from_micros(s * 1_000_000);
        let mut time = Leaderless::default();
        let of = |time: &Leaderless, now, until| time.until_next_input(until).at(now);
        assert_eq!(of(&time, at(9), None), Duration::ZERO, "not started");
        time.started(at(10));
        time.count(at(12), None);
        time.count(at(15), Some(at(20)));
        time.count(at(19), Some(at(20)));
        assert_eq!(of(&time, at(19), Some(at(25))), Duration::from_secs(2));
        time.count(at(23), Some(at(20)));
        assert_eq!(of(&time, at(24), None), Duration::from_secs(2 + 3 + 1));
        assert_eq!(of(&time, at(24), Some(Moment::NEVER)), Duration::from_secs(5));
        let before = time.until_next_input(None);
        time.count(at(30), None);
        assert_eq!(time.until_next_input(None), before, "without a leader it just goes on");
    }
}
