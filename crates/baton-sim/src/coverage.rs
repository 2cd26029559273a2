//! What a campaign has seen: how often each fault happened, and each situation worth counting.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::Fault;

/// Counters by name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Coverage {
    faults: BTreeMap<Fault, u64>,
    situations: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// A fault took effect.
    pub fn fault(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }

    /// A situation arose.
    pub fn situation(&mut self, name: &'static str) {
        *self.situations.entry(name).or_default() += 1;
    }

    /// Adds another run's counts.
    pub fn add(&mut self, other: &Self) {
        for (fault, count) in &other.faults {
            *self.faults.entry(*fault).or_default() += count;
        }
        for (name, count) in &other.situations {
            *self.situations.entry(name).or_default() += count;
        }
    }

    /// The faults that never took effect.
    pub fn missing(&self) -> Vec<Fault> {
        Fault::ALL.iter().copied().filter(|fault| !self.faults.contains_key(fault)).collect()
    }

    /// Every fault with its count.
    pub fn faults(&self) -> impl Iterator<Item = (Fault, u64)> {
        Fault::ALL.iter().map(|fault| (*fault, self.faults.get(fault).copied().unwrap_or(0)))
    }

    /// Every situation that arose, with its count.
    pub fn situations(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.situations.iter().map(|(name, count)| (*name, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_never_happened_is_missing() {
        let mut coverage = Coverage::default();
        assert_eq!(coverage.missing().len(), Fault::ALL.len());
        coverage.fault(Fault::Pause);
        let mut sum = Coverage::default();
        sum.add(&coverage);
        assert!(!sum.missing().contains(&Fault::Pause));
        assert_eq!(sum.missing().len(), Fault::ALL.len() - 1);
    }
}
