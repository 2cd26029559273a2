//! Moments and lengths of time for people: UTC in ISO 8601, and no more figures than they need.

use std::time::{Duration, UNIX_EPOCH};

use baton_core::time::whole_ms;

/// The same as [`span`] for a count of milliseconds.
pub use baton_core::time::short_span as span_ms;

/// A moment to the second: `2026-11-15T12:00:00Z`.
pub fn utc(unix_ms: u64) -> String {
    let at = UNIX_EPOCH + Duration::from_millis(unix_ms);
    humantime::format_rfc3339_seconds(at).to_string()
}

/// A moment to the millisecond: `2026-11-15T12:00:00.123Z`.
pub fn utc_ms(unix_ms: u64) -> String {
    let at = UNIX_EPOCH + Duration::from_millis(unix_ms);
    humantime::format_rfc3339_millis(at).to_string()
}

/// The end of an interval in the short form of ISO 8601: the date only if it is another one.
pub fn utc_end(began_ms: u64, ended_ms: u64) -> String {
    let (began, ended) = (utc(began_ms), utc(ended_ms));
    match (began.split_once('T'), ended.split_once('T')) {
        (Some((day, _)), Some((same, time))) if day == same => time.to_owned(),
        _ => ended,
    }
}

/// A length of time in at most two units: `3m 20s`, `12ms`, `4.5s`.
pub fn span(span: Duration) -> String {
    span_ms(whole_ms(span))
}

/// A gap between two terms: one span, or two where only the least and the most are known.
pub fn gap(least_ms: u64, most_ms: Option<u64>) -> String {
    let (least, most) = (span_ms(least_ms), span_ms(most_ms.unwrap_or(least_ms)));
    if least == most { least } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_told_with_its_bounds_where_they_differ() {
        assert_eq!(gap(12, None), "12ms");
        assert_eq!(gap(1_000, Some(15_900)), "1s to 15s");
        assert_eq!(gap(200_000, Some(200_400)), "3m 20s");
    }

    #[test]
    fn moments_are_utc_and_an_end_repeats_no_date() {
        assert_eq!(utc(1_700_000_000_123), "2023-11-14T22:13:20Z");
        assert_eq!(utc_ms(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(utc_end(1_700_000_000_000, 1_700_000_005_000), "22:13:25Z");
        assert_eq!(utc_end(1_700_000_000_000, 1_700_010_000_000), "2023-11-15T01:00:00Z");
    }
}
