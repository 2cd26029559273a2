//! A small generator of numbers, seeded by the caller. The same seed gives the same numbers on
//! every machine and in every version, so that a kept seed stays reproducible.

use std::time::Duration;

use crate::hash;

/// SplitMix64: one multiplication chain per draw, any seed is a good one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rng(u64);

impl Rng {
    /// A generator that continues from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash::mix(self.0)
    }

    /// A number below `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half of a widening product: no division, and no bias that matters below 2^32.
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from `low` up to and including `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// A length of time from `low` up to and including `high`.
    pub fn span(&mut self, low: Duration, high: Duration) -> Duration {
        if low >= high {
            return low;
        }
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.between(micros(low), micros(high)))
    }

    /// True once in `n` draws on average; never if `n` is 0.
    pub fn one_in(&mut self, n: u64) -> bool {
        n != 0 && self.below(n) == 0
    }

    /// A fraction from 0 up to, not including, 1.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A generator of its own for one purpose, so that draws for one do not shift another's.
    #[must_use]
    pub fn fork(&mut self, purpose: u64) -> Self {
        Self::new(self.bits() ^ purpose.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes_between_versions() {
        let mut rng = Rng::new(42);
        let drawn: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
        assert_eq!(
            drawn,
            [13_679_457_532_755_275_413, 2_949_826_092_126_892_291, 5_139_283_748_462_763_858]
        );
    }

    #[test]
    fn draws_stay_within_their_bounds() {
        let mut rng = Rng::new(7);
        for _ in 0..10_000 {
            assert!((3..=5).contains(&rng.between(3, 5)));
            assert!(rng.fraction() < 1.0);
        }
        assert_eq!(rng.below(0), 0);
        assert!(!rng.one_in(0));
    }
}
