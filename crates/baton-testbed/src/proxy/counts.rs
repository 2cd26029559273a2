//! What has passed through a proxy so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What has passed through a proxy so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that clients opened, refused ones too.
    pub connections: u64,
    /// How often a client spoke first, or after the server had spoken, summed over connections.
    pub round_trips: u64,
    /// Bytes that reached the server.
    pub bytes_up: u64,
    /// Bytes that reached the client.
    pub bytes_down: u64,
}

/// The same, as it is being counted. Counted before it is passed on, so that a client that has an
/// answer finds it counted.
#[derive(Default)]
pub struct Counting {
    pub connections: AtomicU64,
    pub round_trips: AtomicU64,
    pub bytes_up: AtomicU64,
    pub bytes_down: AtomicU64,
}

impl Counting {
    pub fn read(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
        Counts {
            connections: read(&self.connections),
            round_trips: read(&self.round_trips),
            bytes_up: read(&self.bytes_up),
            bytes_down: read(&self.bytes_down),
        }
    }
}

/// Adds to a count.
pub fn add(count: &AtomicU64, more: usize) {
    count.fetch_add(more as u64, Ordering::SeqCst);
}
