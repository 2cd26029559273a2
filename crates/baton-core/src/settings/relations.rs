//! Ranges of settings, and relations between them. Each message has both numbers.

use super::spans::{
    LARGEST_LEASE, Nanos, RELATIONS, Relation, RelationKind, SMALLEST, Span, duration, less_drift,
};
use super::{Settings, show_span};

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
type NamedValue<'a> = (&'a str, Nanos);

/// Says what must hold, unless it does.
fn demand(
    holds: bool,
    left: NamedValue<'_>,
    phrase: &str,
    right: NamedValue<'_>,
) -> Result<(), InvalidSettings> {
    if holds {
        return Ok(());
    }
    let (left_span, right_span) = (show_span(duration(left.1)), show_span(duration(right.1)));
    let (left, right) = (left.0, right.0);
    let message = format!("{left} ({left_span}) must be {phrase} {right} ({right_span})");
    Err(InvalidSettings(message))
}

impl Relation {
    fn check(&self, settings: &Settings) -> Result<(), InvalidSettings> {
        let upper = (self.upper.name(), self.upper.of(settings));
        let needed = sum(self.lowers, settings);
        let holds = upper.1 >= needed;
        match (self.kind, self.lowers) {
            (RelationKind::Window, _) => self.check_window(settings),
            (RelationKind::AtLeast, [(times, lower)]) => {
                let phrase = match times {
                    1 => "at least".to_owned(),
                    times => format!("at least {times} ×"),
                };
                demand(holds, upper, &phrase, (lower.name(), lower.of(settings)))
            }
            _ => {
                let halved = self.lowers.iter().all(|(times, _)| times % 2 == 0);
                let (part, phrase) = if halved { (2, "at most half of") } else { (1, "at most") };
                let lowers = self.lowers.iter().map(|(times, span)| (times / part, *span));
                let lowers = names(&lowers.collect::<Vec<_>>(), " + ");
                demand(holds, (&lowers, needed / Nanos::from(part)), phrase, upper)
            }
        }
    }

    /// What is left of the lease must be enough for the beats that keep it.
    fn check_window(&self, settings: &Settings) -> Result<(), InvalidSettings> {
        let is_beats =
            |(_, span): &(u32, Span)| !matches!(span, Span::SafetyMargin | Span::StopGrace);
        let (beats, reserves): (Vec<_>, Vec<_>) = self.lowers.iter().copied().partition(is_beats);
        let trusted = less_drift(self.upper.of(settings), settings.lease_terms().drift_ppm);
        let usable = trusted.saturating_sub(sum(&reserves, settings));
        let needed = sum(&beats, settings);
        let left = format!("{} less drift, {}", self.upper.name(), names(&reserves, " and "));
        demand(usable >= needed, (&left, usable), "at least", (&names(&beats, " + "), needed))
    }
}

fn sum(spans: &[(u32, Span)], settings: &Settings) -> Nanos {
    spans.iter().map(|(times, span)| span.of(settings) * Nanos::from(*times)).sum()
}

fn names(spans: &[(u32, Span)], separator: &str) -> String {
    let names = spans.iter().map(|(times, span)| match times {
        1 => span.name().to_owned(),
        times => format!("{times} × {}", span.name()),
    });
    names.collect::<Vec<_>>().join(separator)
}

impl Settings {
    /// Finds the first contradiction. Call it once, before a node starts.
    pub fn check(&self) -> Result<(), InvalidSettings> {
        self.check_ranges()?;
        RELATIONS.iter().try_for_each(|relation| relation.check(self))
    }

    pub(super) fn check_ranges(&self) -> Result<(), InvalidSettings> {
        let (smallest, largest) = (SMALLEST.as_nanos(), LARGEST_LEASE.as_nanos());
        for span in Span::ALL {
            let given = (span.name(), span.of(self));
            demand(given.1 >= span.least(), given, "at least", ("the smallest span", smallest))?;
            demand(given.1 <= span.most(), given, "at most", ("the largest lease", largest))?;
        }
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
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
