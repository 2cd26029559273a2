//! What a cluster costs in requests, which is what object stores are paid by.

use std::time::Duration;

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

/// What one beat of one node costs: its record is written, and the state read or written.
pub const REQUESTS_PER_BEAT: u64 = 2;

/// What a namespace with so many nodes costs in an hour in which nobody comes or goes. The
/// coordinator lists the node records with every beat and reads those of the others.
pub fn requests_per_hour(nodes: u64, heartbeat_interval: Duration) -> Requests {
    const HOUR: Duration = Duration::from_secs(3_600);
    let interval = heartbeat_interval.max(Duration::from_millis(1));
    let beats = u64::try_from(HOUR.as_micros() / interval.as_micros()).unwrap_or(u64::MAX);
    let others = nodes.saturating_sub(1);
    let times = |requests: u64| beats.saturating_mul(requests);
    match nodes {
        0 => Requests::default(),
        _ => Requests { put: times(nodes + 1), get: times(others.saturating_mul(2)), list: times(1) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_nodes_at_a_beat_every_five_seconds() {
        let found = requests_per_hour(10, Duration::from_secs(5));
        assert_eq!(found, Requests { put: 720 * 11, get: 720 * 18, list: 720 });
        assert_eq!(requests_per_hour(0, Duration::from_secs(5)), Requests::default());
    }
}
