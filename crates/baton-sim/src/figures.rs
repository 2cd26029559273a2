//! Figures for reports: percentiles, spans that read well, aligned columns.

use std::time::Duration;

use baton_core::Recent;
use serde::Serialize;

/// A distribution in five numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    pub count: usize,
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: f64,
    /// The largest, in milliseconds.
    pub max_ms: f64,
}

impl Percentiles {
    /// The spread of these spans.
    pub fn of(spans: &[Duration]) -> Self {
        let mut all = Recent::new(spans.len());
        spans.iter().for_each(|span| all.push(*span));
        let [p50_ms, p99_ms, max_ms] = all.percentiles_ms([0.5, 0.99, 1.0]);
        Self { count: spans.len(), p50_ms, p99_ms, max_ms }
    }
}

/// Milliseconds as people read them.
pub fn show_ms(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1_000.0 => format!("{ms:.0} ms"),
        ms if ms < 120_000.0 => format!("{:.1} s", ms / 1e3),
        ms => format!("{:.1} min", ms / 6e4),
    }
}

/// A span as people read it, up to days.
pub fn show_long(span: Duration) -> String {
    let days = span.as_secs_f64() / 86_400.0;
    match days {
        days if days < 1.0 / 24.0 => show_ms(span.as_secs_f64() * 1e3),
        days if days < 1.0 => format!("{:.1} h", days * 24.0),
        days => format!("{days:.1} days"),
    }
}

/// A number with its thousands apart.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_spans_read_as_they_should() {
        let spans: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        let found = Percentiles::of(&spans);
        assert_eq!((found.p50_ms, found.p99_ms, found.max_ms), (50.0, 99.0, 100.0));
        assert_eq!(Percentiles::of(&[]).count, 0);
        assert_eq!(show_ms(1.25), "1.2 ms");
        assert_eq!(show_ms(15_250.0), "15.2 s");
        assert_eq!(show_long(Duration::from_secs(86_400 * 3)), "3.0 days");
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(12), "12");
    }
}
