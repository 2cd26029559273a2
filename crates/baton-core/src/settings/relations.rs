//! Relations between settings. Each is one line of a table, and its message has both numbers.

use std::time::Duration;

use super::Settings;
use super::span::show;
use super::spans::{LARGEST_LEASE, SMALLEST};
use crate::election::takeover::RANKS;

/// Two settings that cannot both hold. The message names both with their values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSettings(String);

impl InvalidSettings {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

/// One side of a relation: a name, perhaps with a factor, and its value.
type Side = (&'static str, Duration);

fn at_least(left: Side, phrase: &str, right: Side, bound: Duration) -> Result<(), InvalidSettings> {
    if left.1 >= bound {
        return Ok(());
    }
    Err(InvalidSettings(format!(
        "{} ({}) must be at least {phrase}{} ({})",
        left.0,
        show(left.1),
        right.0,
        show(right.1)
    )))
}

fn at_most(left: Side, phrase: &str, right: Side, bound: Duration) -> Result<(), InvalidSettings> {
    if left.1 <= bound {
        return Ok(());
    }
    Err(InvalidSettings(format!(
        "{} ({}) must be at most {phrase}{} ({})",
        left.0,
        show(left.1),
        right.0,
        show(right.1)
    )))
}

impl Settings {
    /// Finds the first contradiction. Call it once, before a node starts.
    pub fn check(&self) -> Result<(), InvalidSettings> {
        self.check_ranges()?;
        self.check_lease()?;
        self.check_nodes()?;
        self.check_election()
    }

    pub(super) fn check_ranges(&self) -> Result<(), InvalidSettings> {
        let positive = [
            ("lease_timeout", self.lease_timeout),
            ("heartbeat_interval", self.heartbeat_interval),
            ("request_timeout", self.request_timeout),
            ("election_interval", self.election_interval),
            ("stop_grace", self.stop_grace),
        ];
        for side in positive {
            at_least(side, "", ("the smallest span", SMALLEST), SMALLEST)?;
        }
        let largest = LARGEST_LEASE;
        at_most(
            ("lease_timeout", self.lease_timeout),
            "",
            ("the largest lease", largest),
            largest,
        )?;
        if !(0.0..=0.2).contains(&self.clock_drift_max) {
            let given = self.clock_drift_max;
            return Err(InvalidSettings(format!(
                "clock_drift_max ({given}) must be between 0 and 0.2"
            )));
        }
        if self.contention.threshold < 1.0 || !self.contention.threshold.is_finite() {
            let given = self.contention.threshold;
            return Err(InvalidSettings(format!(
                "contention.threshold ({given}) must be at least 1"
            )));
        }
        let counts = [
            ("circuit_breaker.failure_threshold", self.circuit_breaker.failure_threshold, 1),
            (
                "circuit_breaker.half_open_max_attempts",
                self.circuit_breaker.half_open_max_attempts,
                1,
            ),
            ("metrics_buffer_size", self.metrics_buffer_size, 1),
            ("flap_threshold", self.flap_threshold, 2),
        ];
        for (name, given, least) in counts {
            if given < least {
                return Err(InvalidSettings(format!("{name} ({given}) must be at least {least}")));
            }
        }
        Ok(())
    }

    fn check_lease(&self) -> Result<(), InvalidSettings> {
        let beat = ("heartbeat_interval", self.heartbeat_interval);
        let lease = ("lease_timeout", self.lease_timeout);
        at_most(beat, "half of ", lease, self.lease_timeout / 2)?;
        at_most(
            ("heartbeat_jitter", self.heartbeat_jitter),
            "half of ",
            beat,
            self.heartbeat_interval / 2,
        )?;
        at_most(("request_timeout", self.request_timeout), "", beat, self.heartbeat_interval)?;
        // A beat, a failed renewal and one more try must fit before the soft deadline.
        let terms = self.lease_terms();
        let usable = terms.trusted_span().saturating_sub(self.stop_grace);
        let needed = self.heartbeat_interval.saturating_add(self.heartbeat_jitter);
        let needed = needed.saturating_add(self.request_timeout);
        at_least(
            ("lease_timeout less drift, safety_margin and stop_grace", usable),
            "",
            ("heartbeat_interval + heartbeat_jitter + request_timeout", needed),
            needed,
        )
    }

    fn check_nodes(&self) -> Result<(), InvalidSettings> {
        at_least(
            ("worker_timeout", self.worker_timeout),
            "2 × ",
            ("heartbeat_interval", self.heartbeat_interval),
            self.heartbeat_interval.saturating_mul(2),
        )?;
        at_least(
            ("dead_node_timeout", self.dead_node_timeout),
            "",
            ("worker_timeout", self.worker_timeout),
            self.worker_timeout,
        )?;
        at_least(
            ("startup_jitter_max", self.startup_jitter_max),
            "",
            ("startup_jitter_min", self.startup_jitter_min),
            self.startup_jitter_min,
        )?;
        at_most(
            ("startup_jitter_max", self.startup_jitter_max),
            "",
            ("heartbeat_interval", self.heartbeat_interval),
            self.heartbeat_interval,
        )
    }

    fn check_election(&self) -> Result<(), InvalidSettings> {
        at_least(
            ("max_epoch_duration", self.max_epoch_duration),
            "",
            ("min_epoch_duration", self.min_epoch_duration),
            self.min_epoch_duration,
        )?;
        at_least(
            ("min_epoch_duration", self.min_epoch_duration),
            "",
            ("lease_timeout", self.lease_timeout),
            self.lease_timeout,
        )?;
        // All successors have had their turn within one beat of the expiry.
        let turns = self.takeover_stagger.saturating_mul(RANKS);
        let turns = turns.saturating_add(self.takeover_delay);
        at_most(
            ("takeover_delay + 8 × takeover_stagger", turns),
            "half of ",
            ("heartbeat_interval", self.heartbeat_interval),
            self.heartbeat_interval / 2,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn each_contradiction_names_both_settings_and_both_numbers() {
        let base = Settings::default;
        let cases = [
            (
                Settings { worker_timeout: s(4), ..base() },
                "worker_timeout (4s) must be at least 2 × heartbeat_interval (5s)",
            ),
            (
                Settings { heartbeat_interval: s(8), ..base() },
                "heartbeat_interval (8s) must be at most half of lease_timeout (15s)",
            ),
            (
                Settings { heartbeat_jitter: s(3), ..base() },
                "heartbeat_jitter (3s) must be at most half of heartbeat_interval (5s)",
            ),
            (
                Settings { request_timeout: s(6), ..base() },
                "request_timeout (6s) must be at most heartbeat_interval (5s)",
            ),
            (
                Settings { stop_grace: s(9), ..base() },
                "lease_timeout less drift, safety_margin and stop_grace (5s 600ms) must be at \
                 least heartbeat_interval + heartbeat_jitter + request_timeout (8s)",
            ),
            (
                Settings { dead_node_timeout: s(10), ..base() },
                "dead_node_timeout (10s) must be at least worker_timeout (20s)",
            ),
            (
                Settings { max_epoch_duration: s(30), ..base() },
                "max_epoch_duration (30s) must be at least min_epoch_duration (1m)",
            ),
            (
                Settings { takeover_delay: s(4), ..base() },
                "takeover_delay + 8 × takeover_stagger (4s 800ms) must be at most half of \
                 heartbeat_interval (5s)",
            ),
            (
                Settings { lease_timeout: s(0), ..base() },
                "lease_timeout (0s) must be at least the smallest span (10ms)",
            ),
            (
                Settings { clock_drift_max: 0.5, ..base() },
                "clock_drift_max (0.5) must be between 0 and 0.2",
            ),
            (Settings { flap_threshold: 1, ..base() }, "flap_threshold (1) must be at least 2"),
        ];
        for (settings, expected) in cases {
            let message = settings.check().expect_err(expected).to_string();
            assert_eq!(message, expected);
        }
    }
}
