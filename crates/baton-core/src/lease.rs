//! The trust window: until when a holder may act, and from when an observer may take over.
//!
//! ```text
//!  holder's clock   send ├──────────── ttl·(1−ρ) − margin ───────────┤ hard
//!                        ├───────────────────────┤ soft   stop_grace ┘
//!  store's clock           apply ├───────────────── ttl ──────────────────┤ expired
//!  observer's clock                receipt ├────── ttl·(1+ρ) + margin ─────────┤ may take over
//! ```
//!
//! The holder anchors at the *send* of the first try, the observer at the *receipt* of the response
//! that first showed a version. Since send ≤ apply ≤ receipt, and no clock runs faster or slower
//! than another by more than ρ, the holder's window closes before any other node may act.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::planted::planted;
use crate::time::Moment;

/// The numbers the arithmetic needs, taken from the settings once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseTerms {
    /// How long the store keeps the lease for its holder.
    pub ttl: Duration,
    /// The most by which two clocks' rates may differ, in parts per million.
    pub drift_ppm: u32,
    /// Kept free on both sides, for the time between reading a clock and acting on it.
    pub margin: Duration,
    /// How long before the hard deadline work is told to stop.
    pub stop_grace: Duration,
}

/// Until when a term may act, by its holder's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// From here on nothing new starts, and what runs is told to stop.
    pub soft: Moment,
    /// From here on nothing of the term may act.
    pub hard: Moment,
}

impl Window {
    /// A window that has never been open.
    pub const CLOSED: Self = Self { soft: Moment::from_micros(0), hard: Moment::from_micros(0) };

    /// A window without end: single-instance mode, where no other node exists.
    pub const ENDLESS: Self = Self { soft: Moment::NEVER, hard: Moment::NEVER };

    /// The same window by a clock that did not count this much of the time.
    #[must_use]
    pub fn earlier(self, by: Duration) -> Self {
        if self == Self::ENDLESS {
            return self;
        }
        Self { soft: self.soft - by, hard: self.hard - by }
    }

    /// May the term act at `now`?
    pub fn is_open(&self, now: Moment) -> bool {
        now < self.hard
    }

    /// May the term start something new at `now`?
    pub fn may_start(&self, now: Moment) -> bool {
        now < self.soft
    }
}

impl LeaseTerms {
    /// The window that a lease write opens for its holder, which sent the first try at `sent`.
    pub fn window(&self, sent: Moment) -> Window {
        let hard = sent + self.trusted_span();
        Window { soft: hard - self.stop_grace, hard }
    }

    /// ttl·(1−ρ) − margin.
    pub fn trusted_span(&self) -> Duration {
        if planted!(DriftIgnored) {
            return self.ttl;
        }
        self.ttl.saturating_sub(self.drift_of(self.ttl)).saturating_sub(self.margin)
    }

    /// When an observer may hold a version for expired, whose lease lasts `ttl` and which it first
    /// saw in a response received at `receipt` to a request sent at `sent`.
    pub fn observed_expiry(&self, sent: Moment, receipt: Moment, ttl: Duration) -> Moment {
        let anchor = if planted!(ObserverAnchorsAtSend) { sent } else { receipt };
        anchor + ttl + self.drift_of(ttl) + self.margin
    }

    fn drift_of(&self, span: Duration) -> Duration {
        // Rounded up, so that rounding never lengthens a window.
        let nanos = span.as_nanos() * u128::from(self.drift_ppm);
        Duration::from_nanos(u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> LeaseTerms {
        LeaseTerms {
            ttl: Duration::from_secs(15),
            drift_ppm: 10_000,
            margin: Duration::from_millis(250),
            stop_grace: Duration::from_secs(2),
        }
    }

    #[test]
    fn the_holder_trusts_less_than_the_ttl_counted_from_its_send() {
        let window = terms().window(Moment::from_micros(1_000_000));
        assert_eq!(window.hard, Moment::from_micros(15_600_000));
        assert_eq!(window.soft, Moment::from_micros(13_600_000));
    }

    #[test]
    fn the_deadlines_themselves_are_outside_the_window() {
        let window = terms().window(Moment::from_micros(0));
        assert!(window.is_open(window.hard - Duration::from_micros(1)));
        assert!(!window.is_open(window.hard));
        assert!(!window.may_start(window.soft));
        assert!(!Window::CLOSED.is_open(Moment::from_micros(0)));
    }

    #[test]
    fn the_observer_waits_longer_than_the_ttl_counted_from_its_receipt() {
        let (sent, receipt) = (Moment::from_micros(0), Moment::from_micros(2_000_000));
        let expiry = terms().observed_expiry(sent, receipt, Duration::from_secs(15));
        assert_eq!(expiry, Moment::from_micros(2_000_000 + 15_150_000 + 250_000));
    }

    /// For every pair of clock rates within ρ of the true one, a holder that sends at `send` is
    /// closed before the earliest takeover that an observer, or a store's clock, may allow.
    #[test]
    fn no_pair_of_clock_rates_within_the_bound_lets_windows_overlap() {
        let terms = terms();
        let (send, apply) = (0.0_f64, 0.0_f64);
        for holder_ppm in [-5_000_i32, 0, 5_000] {
            for other_ppm in [-5_000_i32, 0, 5_000] {
                let rate = |ppm: i32| 1.0 + f64::from(ppm) / 1e6;
                let closes = send + terms.trusted_span().as_secs_f64() / rate(holder_ppm);
                let store_frees = apply + terms.ttl.as_secs_f64() / rate(other_ppm);
                let receipt = Moment::from_micros(0);
                let observed = terms.observed_expiry(receipt, receipt, terms.ttl);
                let observer_frees = observed.as_micros() as f64 / 1e6 / rate(other_ppm);
                assert!(closes < store_frees, "{holder_ppm} against {other_ppm}");
                assert!(closes < observer_frees, "{holder_ppm} against {other_ppm}");
            }
        }
    }

    #[test]
    fn a_margin_larger_than_the_ttl_leaves_no_window_instead_of_wrapping() {
        let tight = LeaseTerms { margin: Duration::from_secs(60), ..terms() };
        assert!(!tight.window(Moment::from_micros(5)).is_open(Moment::from_micros(5)));
    }
}
