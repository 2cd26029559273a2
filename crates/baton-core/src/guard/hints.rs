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
struct Rate {
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
    fn next(&self, from: Moment) -> Moment {
        if planted!(HintsWithoutBudget) {
            return from;
        }
        from.max(self.full - self.step * (self.most - 1))
    }

    fn spend(&mut self, at: Moment) {
        self.full = self.full.max(at) + self.step;
    }

    /// Spends one if there is one now.
    fn take(&mut self, now: Moment) -> bool {
        let allowed = self.next(now) <= now;
        if allowed {
            self.spend(now);
        }
        allowed
    }

    fn give_back(&mut self) {
        self.full = self.full - self.step;
    }
}

/// What hints may still cost.
#[derive(Clone, Debug, Hash)]
pub struct HintBudget {
    looks: Rate,
    bids: Rate,
    readings: Rate,
    prepares: Rate,
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

    /// The first moment from `from` on at which a hint may cause a look.
    pub fn next_look(&self, from: Moment) -> Moment {
        self.looks.next(from)
    }

    /// A look that a hint asked for is planned for then.
    pub fn look_planned(&mut self, at: Moment) {
        self.looks.spend(at);
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

    /// May a hint cause a reading of the node records now? Counted, if so.
    pub fn take_reading(&mut self, now: Moment) -> bool {
        self.readings.take(now)
    }

    /// A reading of the node records showed a node that joined.
    pub fn reading_was_right(&mut self) {
        self.readings.give_back();
    }

    /// May a hint cause a call of `prepare` now? Counted, if so.
    pub fn take_prepare(&mut self, now: Moment) -> bool {
        self.prepares.take(now)
    }

    /// A look in between showed something new.
    pub fn look_was_right(&mut self) {
        self.looks.give_back();
    }

    /// A bid on a hint showed something new.
    pub fn bid_was_right(&mut self) {
        self.bids.give_back();
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
            let at = budget.next_look(at(now));
            budget.look_planned(at);
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
            budget.bid_was_right();
            assert_eq!(budget.next_look(at(1_000)), at(1_000));
            budget.look_planned(at(1_000));
            budget.look_was_right();
        }
    }
}
