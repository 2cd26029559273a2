//! How measured values spread: the figures that bars are set on.

use std::time::Duration;

use serde::Serialize;

/// Figures of some values. Percentiles are of the nearest rank: each is a value that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    /// How many values.
    pub count: usize,
    /// The smallest.
    pub min: f64,
    /// The middle one; of an even number, the lower of the two.
    pub median: f64,
    /// 95 of 100 are no larger.
    pub p95: f64,
    /// 99 of 100 are no larger.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Percentiles {
    /// The figures; `None` if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1);
            sorted.get(rank - 1).copied()
        };
        Some(Self {
            count: sorted.len(),
            min: *sorted.first()?,
            median: rank(50)?,
            p95: rank(95)?,
            p99: rank(99)?,
            max: *sorted.last()?,
        })
    }
}

/// A length of time in milliseconds, with its fraction.
pub fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// A length of time in microseconds, with its fraction.
pub fn us(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_nearest_rank() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let spread = Percentiles::of(&values).expect("there are values");
        let Percentiles { count, min, median, p95, p99, max } = spread;
        assert_eq!((count, min, median, p95, p99, max), (100, 1.0, 50.0, 95.0, 99.0, 100.0));
    }

    #[test]
    fn a_few_values_have_figures_and_none_has_not() {
        let spread = Percentiles::of(&[4.0, 1.0, 9.0]).expect("there are values");
        assert_eq!((spread.median, spread.p95, spread.max), (4.0, 9.0, 9.0));
        let one = Percentiles::of(&[7.0]).expect("there is one");
        assert_eq!((one.min, one.median, one.p99, one.max), (7.0, 7.0, 7.0, 7.0));
        assert_eq!(Percentiles::of(&[]), None);
    }

    #[test]
    fn fractions_of_a_unit_are_kept() {
        assert_eq!(ms(Duration::from_micros(1_500)), 1.5);
        assert_eq!(us(Duration::from_nanos(2_500)), 2.5);
    }
}
