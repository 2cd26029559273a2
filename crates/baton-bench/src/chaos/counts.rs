//! How often what was done.

use std::collections::BTreeMap;

use super::fault_kind::FaultKind;

/// Faults that struck, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    faults: BTreeMap<FaultKind, u32>,
    /// How many of them struck the leader.
    pub at_leader: u32,
    /// Processes that ended without being told to, and were started again.
    pub ended_by_themselves: u32,
}

impl FaultCounts {
    /// Counts one more fault.
    pub fn struck(&mut self, kind: FaultKind, at_leader: bool) {
        *self.faults.entry(kind).or_default() += 1;
        self.at_leader += u32::from(at_leader);
    }

    /// Takes back a fault that was counted and did not take effect.
    pub fn uncount(&mut self, kind: FaultKind) {
        self.faults.entry(kind).and_modify(|count| *count = count.saturating_sub(1));
    }

    /// Faults of this kind.
    pub fn of(&self, kind: FaultKind) -> u32 {
        self.faults.get(&kind).copied().unwrap_or_default()
    }

    /// Faults of all kinds.
    pub fn total(&self) -> u32 {
        self.faults.values().sum()
    }

    /// Those of these kinds that never came.
    pub fn missing(&self, kinds: &[FaultKind]) -> Vec<FaultKind> {
        kinds.iter().copied().filter(|kind| self.of(*kind) == 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_came_is_missing() {
        let mut counts = FaultCounts::default();
        counts.struck(FaultKind::Kill, true);
        counts.struck(FaultKind::Kill, false);
        assert_eq!((counts.of(FaultKind::Kill), counts.total(), counts.at_leader), (2, 2, 1));
        assert_eq!(counts.missing(&[FaultKind::Kill, FaultKind::Cut]), [FaultKind::Cut]);
        counts.struck(FaultKind::Cut, false);
        counts.uncount(FaultKind::Cut);
        assert_eq!(counts.missing(&[FaultKind::Kill, FaultKind::Cut]), [FaultKind::Cut]);
    }
}
