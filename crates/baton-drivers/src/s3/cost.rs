//! What a cluster costs in requests, which is what object stores are paid by.

use std::time::Duration;

use baton_core::time::whole_ms;

/// How many requests of each price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Writes.
    pub put: u64,
    /// Reads.
    pub get: u64,
    /// Listings; most providers charge them like writes.
    pub list: u64,
}

/// What one beat of one node costs at most: its record is written, and the state read or written.
pub const REQUESTS_PER_BEAT: u64 = 2;

/// What a namespace with this many nodes costs in an hour in which no node joins or leaves. A calm
/// follower writes its record at every second beat, and the first in line looks twice; the
/// leader lists the records with every beat, and reads those that were written in the same
/// second.
///
/// Where `worker_timeout` is less than three beats, records are written at every beat: then a
/// follower costs twice the writes.
pub fn requests_per_hour(nodes: u64, heartbeat_interval: Duration) -> Requests {
    const HOUR: Duration = Duration::from_secs(3_600);
    let interval = heartbeat_interval.max(Duration::from_millis(1));
    let beats = u64::try_from(HOUR.as_micros() / interval.as_micros()).unwrap_or(u64::MAX);
    let Some(others) = nodes.checked_sub(1) else { return Requests::default() };
    let looks = beats.saturating_mul(others);
    let closer_looks = beats.saturating_mul(others.min(1));
    let records = looks.div_ceil(2);
    let fresh = records.saturating_mul(1_000).div_ceil(whole_ms(interval));
    Requests {
        put: beats.saturating_mul(2).saturating_add(records),
        get: looks.saturating_add(closer_looks).saturating_add(fresh.min(records)),
        list: beats,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_nodes_at_a_beat_every_five_seconds() {
        let found = requests_per_hour(10, Duration::from_secs(5));
        assert_eq!(found, Requests { put: 720 * 2 + 3_240, get: 6_480 + 720 + 648, list: 720 });
        assert_eq!(requests_per_hour(0, Duration::from_secs(5)), Requests::default());
        let alone = requests_per_hour(1, Duration::from_secs(5));
        assert_eq!(alone, Requests { put: 1_440, get: 0, list: 720 });
    }
}
