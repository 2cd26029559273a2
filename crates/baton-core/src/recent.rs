//! The last few lengths of time, and their percentiles: numbers for people.

use std::collections::VecDeque;
use std::time::Duration;

/// Keeps the last `size` spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    size: usize,
    spans: VecDeque<Duration>,
}

impl Recent {
    /// None yet.
    pub fn new(size: usize) -> Self {
        Self { size: size.max(1), spans: VecDeque::new() }
    }

    /// One more; the oldest goes when there are too many.
    pub fn push(&mut self, span: Duration) {
        if self.spans.len() == self.size {
            self.spans.pop_front();
        }
        self.spans.push_back(span);
    }

    /// The percentiles asked for, between 0 and 1, in milliseconds; 0 when there is nothing yet.
    pub fn percentiles_ms<const N: usize>(&self, wanted: [f64; N]) -> [f64; N] {
        let mut sorted: Vec<Duration> = self.spans.iter().copied().collect();
        sorted.sort_unstable();
        wanted.map(|p| match sorted.len() {
            0 => 0.0,
            n => sorted[((n as f64 * p).ceil() as usize).clamp(1, n) - 1].as_secs_f64() * 1e3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_the_last_spans_only() {
        let mut recent = Recent::new(100);
        assert_eq!(recent.percentiles_ms([0.5, 0.99]), [0.0, 0.0]);
        recent.push(Duration::from_secs(60));
        for ms in 1..=100 {
            recent.push(Duration::from_millis(ms));
        }
        assert_eq!(
            recent.percentiles_ms([0.0, 0.5, 0.95, 0.99, 1.0]),
            [1.0, 50.0, 95.0, 99.0, 100.0]
        );
    }
}
