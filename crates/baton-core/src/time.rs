//! Moments on one process's own clock. The core never reads a clock: every entry point takes `now`.
//!
//! The clock behind a [`Moment`] counts while the machine is suspended and is never stepped
//! (`CLOCK_BOOTTIME` where there is one). Two processes' moments are never compared.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A reading of the local clock, in microseconds since an origin that only this process knows.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// Later than any reading. A trust window that ends here never closes.
    pub const NEVER: Self = Self(u64::MAX);

    /// A reading of this many microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the clock's origin.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(micros))
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A length of time in whole milliseconds, for events and reports.
pub fn whole_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// A length of time in at most two units, for sentences: `3m 20s`, `12ms`, `4.5s`.
pub fn short_span(ms: u64) -> String {
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large}{large_unit}"),
        _ => format!("{large}{large_unit} {small}{small_unit}"),
    };
    let s = ms / 1_000;
    match s {
        0 if ms == 0 => "0s".to_owned(),
        0 => format!("{ms}ms"),
        1..10 if ms % 1_000 >= 100 => format!("{s}.{}s", ms % 1_000 / 100),
        1..60 => format!("{s}s"),
        60..3_600 => two(s / 60, "m", s % 60, "s"),
        3_600..86_400 => two(s / 3_600, "h", s % 3_600 / 60, "m"),
        _ => two(s / 86_400, "d", s % 86_400 / 3_600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_at_most_two_units() {
        let cases = [
            (0, "0s"),
            (12, "12ms"),
            (1_000, "1s"),
            (4_560, "4.5s"),
            (15_900, "15s"),
            (200_000, "3m 20s"),
            (3_600_000, "1h"),
            (90_000_000, "1d 1h"),
        ];
        for (ms, expected) in cases {
            assert_eq!(short_span(ms), expected);
        }
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let start = Moment::from_micros(5);
        assert_eq!(start - Duration::from_secs(1), Moment::from_micros(0));
        assert_eq!(Moment::NEVER + Duration::from_secs(1), Moment::NEVER);
        assert_eq!(start.since(Moment::from_micros(9)), Duration::ZERO);
    }
}
