//! Bars: the most that a figure may be.

use std::fmt;

use serde::Serialize;

use super::show::number;
use crate::percentiles::Percentiles;

/// Which figure a bar is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The middle value.
    Median,
    /// The value that 99 of 100 do not exceed.
    P99,
    /// The largest value.
    Max,
}

/// The most that a figure may be, in the unit of its row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The figure.
    pub figure: Figure,
    /// The largest value that it may have.
    pub most: f64,
}

impl Bar {
    /// A bar on the median.
    pub const fn median(most: f64) -> Self {
        Self { figure: Figure::Median, most }
    }

    /// A bar on the 99th percentile.
    pub const fn p99(most: f64) -> Self {
        Self { figure: Figure::P99, most }
    }

    /// A bar on the largest value.
    pub const fn max(most: f64) -> Self {
        Self { figure: Figure::Max, most }
    }

    /// Is the figure within the bar?
    pub fn is_met_by(self, spread: &Percentiles) -> bool {
        let value = match self.figure {
            Figure::Median => spread.median,
            Figure::P99 => spread.p99,
            Figure::Max => spread.max,
        };
        value <= self.most
    }
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.figure {
            Figure::Median => "med",
            Figure::P99 => "p99",
            Figure::Max => "max",
        };
        write!(f, "{name} {}", number(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_itself_is_within_the_bar() {
        let spread = Percentiles::of(&[1.0, 2.0, 30.0]).expect("there are values");
        assert!(Bar::median(2.0).is_met_by(&spread) && Bar::max(30.0).is_met_by(&spread));
        assert!(!Bar::median(1.9).is_met_by(&spread) && !Bar::max(29.9).is_met_by(&spread));
        assert_eq!(Bar::median(30.0).to_string(), "med 30");
    }
}
