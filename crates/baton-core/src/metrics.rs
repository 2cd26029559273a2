//! Numbers about a node's own beats and elections, as plain data.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::recent::Recent;
use crate::time::{Moment, whole_ms};

/// What `metrics()` reports. Spans are in milliseconds, moments on the node's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
}

/// Counts and recent latencies. Left out of state comparison: numbers for people decide nothing.
#[derive(Clone, Debug)]
pub struct Metrics {
    report: MetricsReport,
    latencies: Recent,
}

impl Hash for Metrics {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Metrics {
    /// Percentiles over the last `size` beats.
    pub fn new(size: u32) -> Self {
        Self { report: MetricsReport::default(), latencies: Recent::new(size as usize) }
    }

    pub(crate) fn started(&mut self, now: Moment) {
        self.report.start_time = now;
    }

    pub(crate) fn beat_done(&mut self, now: Moment, latency: Duration) {
        self.report.heartbeat_count += 1;
        self.report.last_heartbeat_time = now;
        self.latencies.push(latency);
    }

    pub(crate) fn stood_for_election(&mut self) {
        self.report.election_count += 1;
    }

    pub(crate) fn elected_after(&mut self, span: Duration) {
        self.report.election_duration_ms = whole_ms(span);
    }

    pub(crate) fn leader_changed(&mut self) {
        self.report.leader_changes += 1;
    }

    pub(crate) fn workers_changed(&mut self, joined: u64, timed_out: u64) {
        self.report.worker_registrations += joined;
        self.report.worker_timeouts += timed_out;
    }

    /// The report as of now.
    pub fn report(&self) -> MetricsReport {
        let [latency_p50_ms, latency_p95_ms, latency_p99_ms] =
            self.latencies.percentiles_ms([0.50, 0.95, 0.99]);
        MetricsReport { latency_p50_ms, latency_p95_ms, latency_p99_ms, ..self.report }
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
    }
}
