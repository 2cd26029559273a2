//! How long something took, for people at a terminal. No run of the simulator depends on it.

use std::time::{Duration, Instant};

/// Started when it is made.
pub struct Stopwatch(Instant);

impl Default for Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "shown to people, never given to a run")]
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch {
    /// The time since it was made.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
