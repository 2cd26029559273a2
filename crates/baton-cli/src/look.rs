//! Waiting for what nobody tells: look, and look again, until it is there or the patience is over.
//!
//! ```text
//!   let mut looks = Looks::new(every, patience);
//!   while looks.again().await {
//!       if it is there { return it }
//!   }
//!   it did not come
//! ```

use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};

/// Looks at something, one after the other.
#[derive(Debug)]
pub struct Looks {
    every: Duration,
    gives_up_at: Moment,
    looked: bool,
}

impl Looks {
    /// Looks from now on, so often and for so long; one at least.
    pub fn new(every: Duration, patience: Duration) -> Self {
        Self { every, gives_up_at: SystemClock.now() + patience, looked: false }
    }

    /// Waits for the next look's turn. The first is at once; none is begun after the patience.
    pub async fn again(&mut self) -> bool {
        if !self.looked {
            self.looked = true;
            return true;
        }
        if SystemClock.now() >= self.gives_up_at {
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
    async fn there_is_one_look_without_any_patience() {
        let mut looks = Looks::new(EVERY, Duration::ZERO);
        assert!(looks.again().await);
        assert!(!looks.again().await);
    }

    #[tokio::test]
    async fn looks_go_on_until_the_patience_is_over_and_no_longer() {
        let patience = EVERY * 20;
        let began = SystemClock.now();
        let mut looks = Looks::new(EVERY, patience);
        let mut count = 0;
        while looks.again().await {
            count += 1;
        }
        assert!(SystemClock.now() >= began + patience);
        assert!((2..=22).contains(&count), "{count} looks");
    }
}
