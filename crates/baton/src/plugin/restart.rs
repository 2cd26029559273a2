//! When a plugin that failed is started again, and when no more.

use std::collections::VecDeque;
use std::time::Duration;

use baton_core::time::Moment;

/// How often and how fast a plugin is started again.
///
/// A failure while the store cannot be reached is not counted against the plugin: the store's
/// outage may be its cause, and another node would fare no better. The waits are the same.
///
/// With the default a plugin that fails at every start is started again for 33 s before the node
/// hands over, and for 163 s at most if each failing call takes up to 13 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestartPolicy {
    /// This many failures within `within` are endured; one more, and the node hands over.
    pub limit: u32,
    /// See `limit`.
    pub within: Duration,
    /// Waited after the first failure; doubled with each further one until a call of the work
    /// succeeds.
    pub backoff_min: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            limit: 9,
            within: Duration::from_secs(150),
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(10),
        }
    }
}

/// What a failure says of the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// It counts against the plugin.
    Plugin,
    /// The store could not be reached: nothing is known of the plugin.
    Store,
}

/// The failures of one plugin in one term.
pub struct Restarts {
    policy: RestartPolicy,
    failures: VecDeque<Moment>,
    /// All of them since the work last succeeded.
    in_a_row: u32,
}

impl Restarts {
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, failures: VecDeque::new(), in_a_row: 0 }
    }

    /// A call of its work succeeded.
    pub fn worked(&mut self) {
        self.in_a_row = 0;
    }

    /// It failed at `now`: how long to wait before it is started again; `None` for no more.
    pub fn failed(&mut self, now: Moment, blame: Blame) -> Option<Duration> {
        let within = self.policy.within;
        self.failures.retain(|at| now.since(*at) < within);
        if blame == Blame::Plugin {
            self.failures.push_back(now);
        }
        let counted = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
        if counted > self.policy.limit {
            return None;
        }
        let doubled = 1_u32.checked_shl(self.in_a_row).unwrap_or(u32::MAX);
        self.in_a_row = self.in_a_row.saturating_add(1);
        Some(self.policy.backoff_min.saturating_mul(doubled).min(self.policy.backoff_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    /// How long a plugin is started again under the default policy, if each call takes this long to
    /// fail and all of it is blamed on this; `None` if that goes on for an hour.
    fn endured(call: Duration, blame: Blame) -> Option<Duration> {
        let mut restarts = Restarts::new(RestartPolicy::default());
        let (begin, mut now) = (at(0), at(0));
        while now.since(begin) < Duration::from_secs(3_600) {
            now = now + call;
            match restarts.failed(now, blame) {
                Some(wait) => now = now + wait,
                None => return Some(now.since(begin)),
            }
        }
        None
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end_at_the_limit() {
        let backoff_max = Duration::from_millis(500);
        let policy = RestartPolicy { limit: 5, backoff_max, ..Default::default() };
        let mut restarts = Restarts::new(policy);
        let waits: Vec<_> =
            (0..6).map(|second| restarts.failed(at(second), Blame::Plugin)).collect();
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(waits, [ms(100), ms(200), ms(400), ms(500), ms(500), None]);
    }

    #[test]
    fn old_failures_are_forgotten_and_success_makes_the_waits_short_again() {
        let mut restarts = Restarts::new(RestartPolicy::default());
        let mut wait_after = |seconds| {
            restarts.worked();
            restarts.failed(at(seconds), Blame::Plugin)
        };
        let waits: Vec<_> = (0..20).map(|n| wait_after(n * 16)).collect();
        assert_eq!(waits[..9], [Some(Duration::from_millis(100)); 9]);
        assert_eq!(
            waits[9], None,
            "ten failures within 150 s, though the work succeeds between them"
        );
        let mut restarts = Restarts::new(RestartPolicy::default());
        let rare = (0..20).map(|n| restarts.failed(at(n * 17), Blame::Plugin));
        assert!(rare.into_iter().all(|wait| wait.is_some()));
    }

    #[test]
    fn the_default_endures_thirty_seconds_of_failures_and_not_many_more() {
        let ms = Duration::from_millis;
        assert_eq!(endured(Duration::ZERO, Blame::Plugin), Some(ms(32_700)));
        assert_eq!(endured(ms(13_000), Blame::Plugin), Some(ms(32_700 + 10 * 13_000)));
    }

    #[test]
    fn a_failure_while_the_store_is_away_does_not_count_and_is_waited_after_all_the_same() {
        assert_eq!(endured(Duration::ZERO, Blame::Store), None);
        let policy = RestartPolicy { limit: 0, ..RestartPolicy::default() };
        let mut restarts = Restarts::new(policy);
        let waits: Vec<_> =
            (0..3).map(|second| restarts.failed(at(second), Blame::Store)).collect();
        assert_eq!(waits, [100, 200, 400].map(|ms| Some(Duration::from_millis(ms))));
        assert_eq!(restarts.failed(at(3), Blame::Plugin), None);
    }
}
