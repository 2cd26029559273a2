//! When a plugin that failed is started again, and when no more.

use std::collections::VecDeque;
use std::time::Duration;

use baton_core::time::Moment;

/// How often and how fast a plugin is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// So many failures within `within` are endured; one more, and the node hands over.
    pub limit: u32,
    /// See `limit`.
    pub within: Duration,
    /// Waited after the first failure; doubled with each further one.
    pub backoff_min: Duration,
    /// The longest wait.
    pub backoff_max: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            limit: 5,
            within: Duration::from_secs(60),
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(10),
        }
    }
}

/// The failures of one plugin in one term.
pub struct Restarts {
    policy: RestartPolicy,
    failures: VecDeque<Moment>,
}

impl Restarts {
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, failures: VecDeque::new() }
    }

    /// It failed at `now`: how long to wait before it is started again; `None` for no more.
    pub fn failed(&mut self, now: Moment) -> Option<Duration> {
        let within = self.policy.within;
        self.failures.retain(|at| now.since(*at) < within);
        self.failures.push_back(now);
        let count = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
        if count > self.policy.limit {
            return None;
        }
        let doubled = 1_u32.checked_shl(count - 1).unwrap_or(u32::MAX);
        Some(self.policy.backoff_min.saturating_mul(doubled).min(self.policy.backoff_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn waits_double_up_to_the_longest_and_end_at_the_limit() {
        let policy =
            RestartPolicy { backoff_max: Duration::from_millis(500), ..Default::default() };
        let mut restarts = Restarts::new(policy);
        let waits: Vec<_> = (0..6).map(|second| restarts.failed(at(second))).collect();
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(waits, [ms(100), ms(200), ms(400), ms(500), ms(500), None]);
    }

    #[test]
    fn old_failures_are_forgotten() {
        let mut restarts = Restarts::new(RestartPolicy::default());
        let waits: Vec<_> = (0..20).map(|n| restarts.failed(at(n * 61))).collect();
        assert_eq!(waits, [Some(Duration::from_millis(100)); 20]);
    }
}
