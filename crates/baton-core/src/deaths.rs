//! The processes that this node has proved dead. What they left in the store outlives them: a lease
//! in their name, a record in the registry, a place in the line of successors.

use std::collections::VecDeque;

use crate::ids::BootId;

/// More than can die within one lease of a cluster that is still worth the name. A death that is
/// forgotten costs time, not safety.
const DEATHS_KEPT: usize = 16;

/// Boots that are gone for good: every start of a process has a boot of its own.
#[derive(Clone, Debug, Default, Hash)]
pub struct Deaths(VecDeque<BootId>);

impl Deaths {
    /// This process is proved dead.
    pub fn record(&mut self, boot: BootId) {
        if self.has(boot) {
            return;
        }
        if self.0.len() == DEATHS_KEPT {
            self.0.pop_front();
        }
        self.0.push_back(boot);
    }

    /// This process answers: the proof was wrong.
    pub fn withdraw(&mut self, boot: BootId) {
        self.0.retain(|dead| *dead != boot);
    }

    /// Is this process proved dead?
    pub fn has(&self, boot: BootId) -> bool {
        self.0.contains(&boot)
    }

    /// All that are known.
    pub fn iter(&self) -> impl Iterator<Item = BootId> + '_ {
        self.0.iter().copied()
    }

    /// How many are known.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_known_until_it_is_withdrawn_and_the_oldest_is_forgotten() {
        let mut deaths = Deaths::default();
        for boot in 0..20 {
            deaths.record(BootId(boot));
            deaths.record(BootId(boot));
        }
        assert_eq!(deaths.count(), DEATHS_KEPT);
        assert!(!deaths.has(BootId(3)) && deaths.has(BootId(4)));
        deaths.withdraw(BootId(19));
        assert!(!deaths.has(BootId(19)) && deaths.has(BootId(18)));
    }
}
