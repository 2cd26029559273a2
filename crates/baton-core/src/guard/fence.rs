//! Epoch fencing for tasks: which epochs' work is still accepted.

use std::time::Duration;

use crate::ids::Epoch;
use crate::planted::planted;
use crate::time::Moment;

/// The highest epoch known to this node, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EpochFence {
    enabled: bool,
    grace: Duration,
    known: Epoch,
    changed_at: Moment,
    /// The highest epoch that the store has shown: `known` without what tasks said.
    shown: Epoch,
}

impl EpochFence {
    /// A fence that knows of no epoch yet.
    pub fn new(enabled: bool, grace: Duration) -> Self {
        let (known, shown) = (Epoch::NONE, Epoch::NONE);
        Self { enabled, grace, known, changed_at: Moment::default(), shown }
    }

    /// The highest epoch known.
    pub fn known(&self) -> Epoch {
        self.known
    }

    /// The store showed an epoch. A lower one than known changes nothing.
    pub fn observe(&mut self, now: Moment, epoch: Epoch) {
        self.shown = self.shown.max(epoch);
        self.adopt(now, epoch);
    }

    /// Learns what the store has shown to another fence of this node.
    pub fn catch_up(&mut self, other: &Self) {
        if other.shown > self.shown {
            self.observe(other.changed_at, other.shown);
        }
    }

    fn adopt(&mut self, now: Moment, epoch: Epoch) {
        if epoch > self.known || (planted!(StaleReadBelieved) && epoch < self.known) {
            self.known = epoch;
            self.changed_at = now;
        }
    }

    /// Is a task of this epoch, which came into being here at `created_at`, still acceptable?
    ///
    /// The present epoch is; a later one is and is adopted; the previous one is for the grace
    /// period after the change; anything older is not. Neither is an epoch that cannot have been
    /// granted, or that is further ahead of the store than leaps explain: adopted, it would refuse
    /// every true task from then on.
    pub fn is_valid(&mut self, now: Moment, epoch: Epoch, created_at: Moment) -> bool {
        if !self.enabled {
            return true;
        }
        let furthest = Epoch(self.shown.0.saturating_add(Epoch::LEAD_MAX)).min(Epoch::MAX);
        if epoch > furthest {
            return false;
        }
        self.adopt(now, epoch);
        let in_grace =
            |at: Moment| planted!(GraceWithoutLimit) || at.since(self.changed_at) <= self.grace;
        epoch == self.known || (epoch.next() == self.known && in_grace(now) && in_grace(created_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    fn fence_at_5() -> EpochFence {
        let mut fence = EpochFence::new(true, Duration::from_secs(5));
        fence.observe(at(10), Epoch(4));
        fence.observe(at(100), Epoch(5));
        fence
    }

    #[test]
    fn known_epoch_5_accepts_5_adopts_6_and_grants_4_five_seconds() {
        let mut fence = fence_at_5();
        assert!(fence.is_valid(at(200), Epoch(5), at(200)));
        assert!(fence.is_valid(at(105), Epoch(4), at(101)));
        assert!(!fence.is_valid(at(106), Epoch(4), at(101)));
        assert!(!fence.is_valid(at(101), Epoch(3), at(100)));
        assert!(fence.is_valid(at(300), Epoch(6), at(300)));
        assert_eq!(fence.known(), Epoch(6));
        assert!(fence.is_valid(at(304), Epoch(5), at(304)));
        assert!(!fence.is_valid(at(306), Epoch(5), at(304)));
    }

    #[test]
    fn a_lower_epoch_never_takes_the_fence_back() {
        let mut fence = fence_at_5();
        fence.observe(at(101), Epoch(2));
        assert_eq!(fence.known(), Epoch(5));
    }

    #[test]
    fn an_epoch_that_cannot_have_been_granted_is_refused_and_freezes_nothing() {
        let mut fence = fence_at_5();
        let far = Epoch(5 + Epoch::LEAD_MAX + 1);
        for forged in [Epoch(u64::MAX), Epoch(u64::MAX - 1), Epoch::MAX.next(), Epoch::MAX, far] {
            assert!(!fence.is_valid(at(200), forged, at(200)), "{forged}");
            assert_eq!(fence.known(), Epoch(5));
        }
        assert!(fence.is_valid(at(200), Epoch(5), at(200)), "true tasks are accepted as before");
        // Two tasks do not get further than one: what counts is what the store has shown.
        assert!(fence.is_valid(at(201), Epoch(5 + Epoch::LEAD_MAX), at(201)), "leaps explain it");
        assert!(!fence.is_valid(at(202), far, at(202)));
    }

    #[test]
    fn with_fencing_off_everything_is_accepted() {
        let mut fence = EpochFence::new(false, Duration::from_secs(5));
        fence.observe(at(1), Epoch(9));
        assert!(fence.is_valid(at(500), Epoch(1), at(2)));
    }
}
