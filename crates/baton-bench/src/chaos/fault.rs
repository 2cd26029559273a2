//! What a seed stands for: one fault after another, every kind before any comes for the third time.

use std::collections::VecDeque;
use std::time::Duration;

use baton_core::rng::Rng;

use super::kind::Kind;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChaosFault {
    /// What.
    pub kind: Kind,
    /// Does it strike the leader, or any node?
    pub at_leader: bool,
    /// Which of those it may strike, modulo their number.
    pub pick: u64,
    /// After how long it is taken back.
    pub lasts: Duration,
    /// How late everything is, of a delay.
    pub late: Duration,
}

/// The kinds in the order they will come, like cards: a kind that was seldom drawn is not missing.
pub struct Deck {
    rng: Rng,
    kinds: Vec<Kind>,
    cards: VecDeque<Kind>,
}

impl Deck {
    /// Faults of these kinds.
    pub fn new(rng: Rng, kinds: Vec<Kind>) -> Self {
        Self { rng, kinds, cards: VecDeque::new() }
    }

    /// The next fault.
    pub fn draw(&mut self) -> ChaosFault {
        if self.cards.is_empty() {
            self.shuffle();
        }
        let kind = self.cards.pop_front().unwrap_or(Kind::Kill);
        let (low, high) = kind.lasts();
        // Two in three: a follower's fault shows little by itself.
        let (at_leader, pick) = (!self.rng.one_in(3), self.rng.bits());
        let lasts = self.rng.span(low, high);
        let late = self.rng.span(Duration::from_millis(20), Duration::from_millis(400));
        ChaosFault { kind, at_leader, pick, lasts, late }
    }

    /// One that cannot strike now comes later.
    pub fn put_back(&mut self, kind: Kind) {
        self.cards.push_back(kind);
    }

    /// From the same generator.
    pub fn span(&mut self, low_ms: u64, high_ms: u64) -> Duration {
        self.rng.span(Duration::from_millis(low_ms), Duration::from_millis(high_ms))
    }

    /// Each once, then those once more that end a term for sure: without them there would be few
    /// failovers to look at.
    fn shuffle(&mut self) {
        let all = self.kinds.clone();
        let again = all.iter().copied().filter(|kind| kind.is_of_process()).collect();
        for mut heap in [all, again] {
            while !heap.is_empty() {
                let at = self.rng.below(heap.len() as u64) as usize;
                self.cards.push_back(heap.swap_remove(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::StoreKind;

    fn drawn(seed: u64, count: usize) -> Vec<ChaosFault> {
        let mut deck = Deck::new(Rng::new(seed), Kind::of(StoreKind::Postgres));
        (0..count).map(|_| deck.draw()).collect()
    }

    #[test]
    fn a_seed_determines_its_faults() {
        assert_eq!(drawn(7, 100), drawn(7, 100));
        assert_ne!(drawn(7, 100), drawn(8, 100));
    }

    #[test]
    fn every_kind_comes_at_once_and_one_that_could_not_strike_comes_again() {
        let kinds = Kind::of(StoreKind::Postgres);
        let mut first: Vec<Kind> = drawn(3, kinds.len()).iter().map(|fault| fault.kind).collect();
        first.sort();
        assert_eq!(first, kinds);
        let mut deck = Deck::new(Rng::new(3), vec![Kind::Cut]);
        let cut = deck.draw();
        deck.put_back(cut.kind);
        assert_eq!(deck.draw().kind, Kind::Cut);
    }

    #[test]
    fn a_fault_lasts_as_long_as_its_kind_says() {
        for fault in drawn(1, 1_000) {
            let (low, high) = fault.kind.lasts();
            assert!((low..=high).contains(&fault.lasts), "{fault:?}");
        }
    }
}
