//! The circuit breaker: holds beats back while the store keeps failing.
//!
//! ```text
//!   closed ──failure_threshold failures in a row──► open ──reset_timeout──► half-open
//!     ▲                                              ▲                        │
//!     │                                              │  or a sign of life       │
//!     │                                              └──────── failure ───────┤
//!     └────────────── half_open_max_attempts successes ───────────────────────┘
//! ```
//!
//! A store that pushes hints is heard again before a node asks it: then there is nothing to wait
//! for.
//!
//! It never has a say in a deadline: a leader steps down in time whatever its state.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::planted::planted;
use crate::time::Moment;

/// The three states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakerState {
    /// Requests pass.
    Closed,
    /// Requests wait.
    Open,
    /// A probe passes.
    HalfOpen,
}

/// What `circuit_breaker_status()` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BreakerStatus {
    /// The state.
    pub state: BreakerState,
    /// Failures in a row.
    pub failure_count: u32,
    /// Failures in a row that open it.
    pub failure_threshold: u32,
    /// Milliseconds from opening to the next probe.
    pub reset_timeout_ms: u64,
    /// How often it opened.
    pub trips: u64,
}

/// The breaker.
#[derive(Clone, Debug, Hash)]
pub struct Breaker {
    threshold: u32,
    probe_after: Duration,
    probes_needed: u32,
    failures: u32,
    probes_ok: u32,
    /// When the store is tried again, if the breaker is not closed.
    probe_at: Option<Moment>,
    half_open: bool,
    trips: u64,
}

impl Breaker {
    /// A closed breaker.
    pub fn new(threshold: u32, probe_after: Duration, probes_needed: u32) -> Self {
        Self {
            threshold,
            probe_after,
            probes_needed,
            failures: 0,
            probes_ok: 0,
            probe_at: None,
            half_open: false,
            trips: 0,
        }
    }

    /// A request failed. Returns the new state if it changed.
    pub fn failed(&mut self, now: Moment) -> Option<BreakerState> {
        self.failures = self.failures.saturating_add(1);
        self.probes_ok = 0;
        let trips = match self.state() {
            BreakerState::Closed => self.failures >= self.threshold,
            BreakerState::HalfOpen => true,
            BreakerState::Open => false,
        };
        if !trips {
            return None;
        }
        self.trips += u64::from(self.probe_at.is_none());
        self.probe_at = Some(now + self.probe_after);
        self.half_open = false;
        Some(BreakerState::Open)
    }

    /// A request was answered. Returns the new state if it changed.
    pub fn succeeded(&mut self) -> Option<BreakerState> {
        self.failures = 0;
        self.probe_at?;
        self.probes_ok += 1;
        if self.probes_ok < self.probes_needed {
            return None;
        }
        self.probe_at = None;
        self.half_open = false;
        self.probes_ok = 0;
        Some(BreakerState::Closed)
    }

    /// A request is about to pass. Returns the new state if it changed.
    pub fn passing(&mut self) -> Option<BreakerState> {
        if self.state() != BreakerState::Open {
            return None;
        }
        self.half_open = true;
        Some(BreakerState::HalfOpen)
    }

    /// The store gave a sign of life: it is tried at `at`, unless that was planned anyway.
    pub fn probe_by(&mut self, at: Moment) {
        self.probe_at = self.probe_at.map(|planned| planned.min(at));
    }

    /// When the next request may pass; `None` if at once.
    pub fn opens_at(&self) -> Option<Moment> {
        match (self.probe_at, self.half_open) {
            (Some(_), false) if planted!(BreakerNeverProbes) => Some(Moment::NEVER),
            (probe_at, false) => probe_at,
            _ => None,
        }
    }

    /// The state.
    pub fn state(&self) -> BreakerState {
        match (self.probe_at, self.half_open) {
            (None, _) => BreakerState::Closed,
            (Some(_), true) => BreakerState::HalfOpen,
            (Some(_), false) => BreakerState::Open,
        }
    }

    /// A report for people.
    pub fn status(&self) -> BreakerStatus {
        BreakerStatus {
            state: self.state(),
            failure_count: self.failures,
            failure_threshold: self.threshold,
            reset_timeout_ms: crate::time::whole_ms(self.probe_after),
            trips: self.trips,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_the_threshold_probes_once_and_closes_on_success() {
        let mut breaker = Breaker::new(3, Duration::from_secs(30), 1);
        let t = Moment::from_micros;
        assert_eq!(breaker.failed(t(1)), None);
        assert_eq!(breaker.failed(t(2)), None);
        assert_eq!(breaker.failed(t(3)), Some(BreakerState::Open));
        assert_eq!(breaker.opens_at(), Some(t(30_000_003)));
        assert_eq!(breaker.passing(), Some(BreakerState::HalfOpen));
        assert_eq!(breaker.opens_at(), None);
        assert_eq!(breaker.failed(t(9)), Some(BreakerState::Open));
        assert_eq!(breaker.opens_at(), Some(t(30_000_009)));
        assert_eq!(breaker.passing(), Some(BreakerState::HalfOpen));
        assert_eq!(breaker.succeeded(), Some(BreakerState::Closed));
        assert_eq!(breaker.status().trips, 1);
    }

    #[test]
    fn a_sign_of_life_brings_the_probe_forward_and_opens_nothing() {
        let mut breaker = Breaker::new(1, Duration::from_secs(30), 1);
        let t = Moment::from_micros;
        breaker.probe_by(t(1));
        assert_eq!((breaker.state(), breaker.opens_at()), (BreakerState::Closed, None));
        assert_eq!(breaker.failed(t(1)), Some(BreakerState::Open));
        breaker.probe_by(t(5));
        breaker.probe_by(t(9));
        assert_eq!((breaker.state(), breaker.opens_at()), (BreakerState::Open, Some(t(5))));
        assert_eq!(breaker.passing(), Some(BreakerState::HalfOpen));
        assert_eq!(breaker.failed(t(6)), Some(BreakerState::Open));
        assert_eq!(breaker.opens_at(), Some(t(30_000_006)));
    }

    #[test]
    fn a_success_in_between_starts_the_count_again() {
        let mut breaker = Breaker::new(2, Duration::from_secs(1), 1);
        let t = Moment::from_micros;
        assert_eq!(breaker.failed(t(1)), None);
        assert_eq!(breaker.succeeded(), None);
        assert_eq!(breaker.failed(t(2)), None);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
}
