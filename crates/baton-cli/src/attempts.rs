//! Waiting for something that sends no notification: try, and try again, until the time is up.
//!
//! ```text
//!   let mut attempts = Attempts::new(every, time_limit);
//!   while attempts.next().await {
//!       if it is there { return it }
//!   }
//!   it did not come in time
//! ```

use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};

/// Attempts at regular intervals, at least one.
#[derive(Debug)]
pub struct Attempts {
    every: Duration,
    ends_at: Moment,
    is_first: bool,
}

impl Attempts {
    /// Attempts from now on, at this interval and within this time.
    pub fn new(every: Duration, time_limit: Duration) -> Self {
        Self { every, ends_at: SystemClock.now() + time_limit, is_first: true }
    }

    /// Waits until the next attempt is due; `false` once the time is up.
    pub async fn next(&mut self) -> bool {
        if std::mem::replace(&mut self.is_first, false) {
            return true;
        }
        if SystemClock.now() >= self.ends_at {
            return false;
        }
        SystemClock.sleep(self.every).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn there_is_one_attempt_without_any_time() {
        let mut attempts = Attempts::new(EVERY, Duration::ZERO);
        assert!(attempts.next().await);
        assert!(!attempts.next().await);
    }

    #[tokio::test]
    async fn attempts_go_on_until_the_time_is_up() {
        let limit = EVERY * 20;
        let began = SystemClock.now();
        let mut attempts = Attempts::new(EVERY, limit);
        let mut count = 0;
        while attempts.next().await {
            count += 1;
        }
        assert!(SystemClock.now() >= began + limit);
        assert!((2..=22).contains(&count), "{count} attempts");
    }
}
