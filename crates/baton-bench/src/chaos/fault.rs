//! What a seed stands for: one fault after another, every kind before any comes for the third time.

use std::collections::VecDeque;
use std::time::Duration;

use baton_core::rng::Rng;

use super::fault_kind::FaultKind;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChaosFault {
    /// Its kind.
    pub kind: FaultKind,
    /// Does it strike the leader, or any node?
    pub at_leader: bool,
    /// Which of those it may strike, modulo their number.
    pub pick: u64,
    /// After how long it is taken back.
    pub lasts: Duration,
    /// How much a delay delays.
    pub late: Duration,
}

/// The kinds in the order they will come: like cards that are dealt, so that none is missing.
pub struct FaultSequence {
    rng: Rng,
    kinds: Vec<FaultKind>,
    queue: VecDeque<FaultKind>,
}

impl FaultSequence {
    /// Faults of these kinds.
    pub fn new(rng: Rng, kinds: Vec<FaultKind>) -> Self {
        Self { rng, kinds, queue: VecDeque::new() }
    }

    /// The next fault.
    pub fn next_fault(&mut self) -> ChaosFault {
        if self.queue.is_empty() {
            self.shuffle();
        }
        let kind = self.queue.pop_front().unwrap_or(FaultKind::Kill);
        let (low, high) = kind.lasts();
        // Two in three: a follower's fault shows little by itself.
        let (at_leader, pick) = (!self.rng.one_in(3), self.rng.bits());
        let lasts = self.rng.span(low, high);
        let late = self.rng.span(Duration::from_millis(20), Duration::from_millis(400));
        ChaosFault { kind, at_leader, pick, lasts, late }
    }

    /// Puts a kind that cannot strike now at the end.
    pub fn postpone(&mut self, kind: FaultKind) {
        self.queue.push_back(kind);
    }

    /// A random span, from the same generator.
    pub fn span(&mut self, low_ms: u64, high_ms: u64) -> Duration {
        self.rng.span(Duration::from_millis(low_ms), Duration::from_millis(high_ms))
    }

    /// Each once, then those once more that end a term for sure: without them there would be few
    /// failovers to look at.
    fn shuffle(&mut self) {
        let all = self.kinds.clone();
        let again = all.iter().copied().filter(|kind| kind.strikes_process()).collect();
        for mut rest in [all, again] {
            while !rest.is_empty() {
                let at = self.rng.below(rest.len() as u64) as usize;
                self.queue.push_back(rest.swap_remove(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::StoreKind;

    fn drawn(seed: u64, count: usize) -> Vec<ChaosFault> {
        let mut faults = FaultSequence::new(Rng::new(seed), FaultKind::of(StoreKind::Postgres));
        (0..count).map(|_| faults.next_fault()).collect()
    }

    #[test]
    fn a_seed_determines_its_faults() {
        assert_eq!(drawn(7, 100), drawn(7, 100));
        assert_ne!(drawn(7, 100), drawn(8, 100));
    }

    #[test]
    fn every_kind_comes_at_once_and_one_that_could_not_strike_comes_again() {
        let kinds = FaultKind::of(StoreKind::Postgres);
        let mut first: Vec<FaultKind> =
            drawn(3, kinds.len()).iter().map(|fault| fault.kind).collect();
        first.sort();
        assert_eq!(first, kinds);
        let mut faults = FaultSequence::new(Rng::new(3), vec![FaultKind::Cut]);
        let cut = faults.next_fault();
        faults.postpone(cut.kind);
        assert_eq!(faults.next_fault().kind, FaultKind::Cut);
    }

    #[test]
    fn a_fault_lasts_as_long_as_its_kind_says() {
        for fault in drawn(1, 1_000) {
            let (low, high) = fault.kind.lasts();
            assert!((low..=high).contains(&fault.lasts), "{fault:?}");
        }
    }
}
