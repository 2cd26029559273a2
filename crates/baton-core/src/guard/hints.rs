//! What hints may cost: a few requests a beat, however many hints come and whatever they say.
//!
//! A hint that turns out to be true costs nothing: the request that it caused is given back. A node
//! that hands over and is handed to several times a beat therefore keeps its speed, and a flood of
//! false hints runs into the limit at once.

use std::time::Duration;

use crate::planted::planted;
use crate::protocol::Version;
use crate::time::Moment;

/// The most looks that hints cause within one beat.
const LOOKS_A_BEAT: u32 = 4;

/// The most bids that hints cause within one beat.
const BIDS_A_BEAT: u32 = 2;

/// The most readings of the node records that hints cause within one beat.
const READINGS_A_BEAT: u32 = 4;

/// The most calls of `prepare` that hints cause within one beat.
const PREPARES_A_BEAT: u32 = 1;

/// A limit on how often something happens: `most` times at once, then once in every `step`.
#[derive(Clone, Debug, Hash)]
pub struct Rate {
    most: u32,
    step: Duration,
    /// When all of it is there again.
    full: Moment,
}

impl Rate {
    fn new(most: u32, beat: Duration) -> Self {
        Self { most, step: beat / most, full: Moment::default() }
    }

    /// The first moment from `from` on at which it may happen once more.
    pub fn next(&self, from: Moment) -> Moment {
        if planted!(HintsWithoutBudget) {
            return from;
        }
        from.max(self.full - self.step * (self.most - 1))
    }

    /// It happens then.
    pub fn spend(&mut self, at: Moment) {
        self.full = self.full.max(at) + self.step;
    }

    /// Spends one if there is one now.
    pub fn take(&mut self, now: Moment) -> bool {
        let allowed = self.next(now) <= now;
        if allowed {
            self.spend(now);
        }
        allowed
    }

    /// What was spent last was right, and costs nothing.
    pub fn give_back(&mut self) {
        self.full = self.full - self.step;
    }
}

/// What hints may still cost.
#[derive(Clone, Debug, Hash)]
pub struct HintBudget {
    /// Looks at the lease.
    pub looks: Rate,
    pub bids: Rate,
    /// Readings of the node records.
    pub readings: Rate,
    /// Calls of `prepare`.
    pub prepares: Rate,
    /// The version that a hint last made this node bid for: another hint of it is no news.
    bid_for: Option<Version>,
}

impl HintBudget {
    /// The budget of a node that beats this often.
    pub fn new(beat: Duration) -> Self {
        Self {
            looks: Rate::new(LOOKS_A_BEAT, beat),
            bids: Rate::new(BIDS_A_BEAT, beat),
            readings: Rate::new(READINGS_A_BEAT, beat),
            prepares: Rate::new(PREPARES_A_BEAT, beat),
            bid_for: None,
        }
    }

    /// May a hint cause a bid for this version now? Counted, if so.
    pub fn take_bid(&mut self, now: Moment, version: Version) -> bool {
        let news = self.bid_for != Some(version) || planted!(HintsWithoutBudget);
        let allowed = news && self.bids.take(now);
        if allowed {
            self.bid_for = Some(version);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{BootId, Epoch, Nonce};

    const BEAT: Duration = Duration::from_secs(5);

    fn at(ms: u64) -> Moment {
        Moment::from_micros(ms * 1_000)
    }

    fn version(attempt: u64) -> Version {
        Version { epoch: Epoch(4), nonce: Nonce { boot: BootId(1), attempt } }
    }

    #[test]
    fn looks_come_at_once_up_to_the_limit_and_then_evenly() {
        let mut budget = HintBudget::new(BEAT);
        let mut looks = |now| {
            let at = budget.looks.next(at(now));
            budget.looks.spend(at);
            at
        };
        let planned: Vec<Moment> = (0..7).map(|_| looks(10_000)).collect();
        let expected = [10_000, 10_000, 10_000, 10_000, 11_250, 12_500, 13_750].map(at);
        assert_eq!(planned, expected);
        assert_eq!(looks(60_000), at(60_000), "a quiet while fills it up");
    }

    #[test]
    fn a_version_is_bid_for_once_and_any_number_of_versions_only_so_often() {
        let mut budget = HintBudget::new(BEAT);
        assert!(budget.take_bid(at(1_000), version(1)));
        assert!(!budget.take_bid(at(1_001), version(1)), "that is no news");
        assert!(budget.take_bid(at(1_002), version(2)));
        assert!(!budget.take_bid(at(1_003), version(3)), "two a beat");
        let allowed = (0..50_000u64).step_by(25);
        let allowed = allowed.filter(|ms| budget.take_bid(at(2_000 + ms), version(10 + ms)));
        assert_eq!(allowed.count(), 20, "ten beats");
    }

    #[test]
    fn what_was_right_costs_nothing() {
        let mut budget = HintBudget::new(BEAT);
        for attempt in 0..100 {
            assert!(budget.take_bid(at(1_000), version(attempt)));
            budget.bids.give_back();
            assert_eq!(budget.looks.next(at(1_000)), at(1_000));
            budget.looks.spend(at(1_000));
            budget.looks.give_back();
        }
    }
}
