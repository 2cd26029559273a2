//! How often what was done.

use std::collections::BTreeMap;

use super::kind::Kind;

/// Faults that struck, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    faults: BTreeMap<Kind, u32>,
    /// Of these, at the leader.
    pub at_leader: u32,
    /// Processes that ended without being told to, and were started again.
    pub ended_by_themselves: u32,
}

impl Counts {
    /// One more.
    pub fn struck(&mut self, kind: Kind, at_leader: bool) {
        *self.faults.entry(kind).or_default() += 1;
        self.at_leader += u32::from(at_leader);
    }

    /// One that was counted did not come about.
    pub fn never_was(&mut self, kind: Kind) {
        self.faults.entry(kind).and_modify(|count| *count = count.saturating_sub(1));
    }

    /// Faults of this kind.
    pub fn of(&self, kind: Kind) -> u32 {
        self.faults.get(&kind).copied().unwrap_or_default()
    }

    /// Faults of all kinds.
    pub fn total(&self) -> u32 {
        self.faults.values().sum()
    }

    /// Those of these kinds that never came.
    pub fn missing(&self, kinds: &[Kind]) -> Vec<Kind> {
        kinds.iter().copied().filter(|kind| self.of(*kind) == 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_came_is_missing() {
        let mut counts = Counts::default();
        counts.struck(Kind::Kill, true);
        counts.struck(Kind::Kill, false);
        assert_eq!((counts.of(Kind::Kill), counts.total(), counts.at_leader), (2, 2, 1));
        assert_eq!(counts.missing(&[Kind::Kill, Kind::Cut]), [Kind::Cut]);
        counts.struck(Kind::Cut, false);
        counts.never_was(Kind::Cut);
        assert_eq!(counts.missing(&[Kind::Kill, Kind::Cut]), [Kind::Cut]);
    }
}
