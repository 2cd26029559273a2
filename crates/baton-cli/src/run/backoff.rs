//! How long to wait before a command that ended is run again.

use std::time::Duration;

use baton::Epoch;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(10);

/// Doubles with each end in the same term; a new term starts anew.
#[derive(Default)]
pub struct Backoff {
    last: Option<(Epoch, Duration)>,
}

impl Backoff {
    /// The next pause.
    pub fn next(&mut self, epoch: Epoch) -> Duration {
        let pause = match self.last {
            Some((known, last)) if known == epoch => (last * 2).min(LONGEST),
            _ => SHORTEST,
        };
        self.last = Some((epoch, pause));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_start_anew_with_a_term() {
        let mut backoff = Backoff::default();
        let drawn: Vec<u128> = (0..9).map(|_| backoff.next(Epoch(1)).as_millis()).collect();
        assert_eq!(drawn, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
        assert_eq!(backoff.next(Epoch(2)), SHORTEST);
    }
}
