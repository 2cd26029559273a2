//! What every contender does: all partitions from scratch, then without a node, and with one more.

use std::time::Duration;

use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};

use super::fleet::{Fleet, Owners};

/// A way to say who should own each partition.
pub trait Contender {
    /// Its name.
    fn name(&self) -> &'static str;
    /// The owner of each partition, given who has it now.
    fn assign(&self, fleet: &Fleet, owners: &Owners) -> Owners;
}

/// What one assignment took, and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// How long it took, each time that it was tried.
    pub times: Vec<Duration>,
    /// How many partitions got an owner, or another one.
    pub moves: u64,
    /// How many must, for an even result.
    pub fewest: u64,
    /// The largest difference between two nodes.
    pub difference: u64,
}

/// The steps of a contender.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// From scratch; absent if it did not come to its end.
    pub scratch: Option<Step>,
    /// A node leaves.
    pub leave: Option<Step>,
    /// A node joins.
    pub join: Option<Step>,
}

impl Step {
    /// What came of an assignment.
    pub fn of(times: Vec<Duration>, fleet: &Fleet, before: &Owners, after: &Owners) -> Self {
        let pairs = before.iter().zip(after);
        let moves = pairs.filter(|(before, after)| before != after).count() as u64;
        let (fewest, difference) = (fleet.fewest_moves(before), fleet.difference(after));
        Self { times, moves, fewest, difference }
    }

    /// The shortest time: the others were interrupted.
    pub fn shortest(&self) -> Duration {
        self.times.iter().min().copied().unwrap_or_default()
    }
}

/// Measures each step once.
pub fn measure(contender: &dyn Contender, fleet: &Fleet) -> Measured {
    let step = |fleet: &Fleet, before: &Owners| {
        let start = SystemClock.now();
        let after = contender.assign(fleet, before);
        let times = vec![SystemClock.now().since(start)];
        (Step::of(times, fleet, before, &after), after)
    };
    let (scratch, first) = step(fleet, &vec![None; fleet.partitions() as usize]);
    let (fewer, left) = fleet.with_one_less(&first);
    let (leave, _) = step(&fewer, &left);
    let (join, _) = step(&fleet.with_one_more(), &first);
    let name = contender.name();
    Measured { name, scratch: Some(scratch), leave: Some(leave), join: Some(join) }
}

/// The hash of a number.
pub fn hash(number: u64) -> u64 {
    Rng::new(number).bits()
}

/// The hash of a node.
pub fn node_hash(node: u32) -> u64 {
    hash(u64::from(node) | 1 << 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::quota::Quota;
    use crate::allocation::rendezvous::Rendezvous;
    use crate::allocation::ring::Ring;

    #[test]
    fn hashes_are_uneven_and_move_little() {
        let fleet = Fleet::new(1_000, 10, 10);
        for contender in [&Rendezvous as &dyn Contender, &Ring] {
            let Measured { name, scratch, leave, join } = measure(contender, &fleet);
            let [scratch, leave, join] = [scratch, leave, join].map(Option::unwrap_or_default);
            assert_eq!((scratch.moves, scratch.times.len()), (1_000, 1));
            assert!((10..200).contains(&scratch.difference), "{name}: {}", scratch.difference);
            let are_few = |step: Step| (50..=step.fewest).contains(&step.moves);
            assert!(are_few(leave) && are_few(join), "{name}: no more than make it even");
        }
    }

    #[test]
    fn a_quota_for_each_list_is_even_for_large_lists_alone() {
        let difference = |fleet: &Fleet| measure(&Quota, fleet).scratch.map(|it| it.difference);
        assert_eq!(difference(&Fleet::new(1_000, 10, 10)), Some(0));
        let small = Fleet::new(100, 100, 10);
        assert_eq!(difference(&small), Some(100), "each list begins with the first node");
    }
}
