//! Random problems, each followed through joins, leaves and whatever else happens.

use super::super::{Limits, NodeState};
use super::checks::check;
use super::*;
use crate::partition::task_list::TaskListStatus;
use crate::rng::Rng;

/// What a sequence of problems has.
#[derive(Clone, Copy)]
struct Traits {
    partition_weights: bool,
    node_weights: bool,
    capacities: bool,
    zones: bool,
    labels: bool,
    limits: bool,
}

struct Sequence {
    rng: Rng,
    traits: Traits,
    problem: Problem,
}

impl Sequence {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut has = || rng.one_in(3);
        let traits = Traits {
            partition_weights: has(),
            node_weights: has(),
            capacities: has(),
            zones: has(),
            labels: has(),
            limits: has(),
        };
        let mut sequence = Self { rng, traits, problem: Problem::default() };
        sequence.set_limits();
        for number in 0..sequence.below(6) + 1 {
            sequence.add_list(10 * number);
        }
        for number in 0..sequence.below(10) {
            sequence.join(9 * number);
        }
        sequence
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rng.below(limit as u64) as usize
    }

    fn number(&mut self, low: u32, high: u32) -> u32 {
        self.rng.between(low.into(), high.into()) as u32
    }

    fn set_limits(&mut self) {
        if self.traits.limits {
            let moves_max = if self.rng.one_in(2) { Some(self.number(0, 9)) } else { None };
            self.problem.limits = Limits { moves_max, tolerance_percent: self.number(0, 25) };
        }
    }

    fn some_labels(&mut self) -> BTreeMap<String, String> {
        let mut some = BTreeMap::new();
        for name in ["disk", "gpu"] {
            if self.traits.labels && self.rng.one_in(2) {
                some.insert(name.to_owned(), self.number(0, 1).to_string());
            }
        }
        some
    }

    fn add_list(&mut self, number: usize) {
        let mut list = list(number, self.number(1, 40));
        if self.traits.partition_weights {
            list.weight = self.number(1, 12);
        }
        list.requires = self.some_labels();
        let at = self.problem.lists.partition_point(|other| other.id < list.id);
        if self.problem.lists.get(at).is_some_and(|other| other.id == list.id) {
            return;
        }
        let first = self.first_of(at);
        let count = list.partitions as usize;
        self.problem.lists.insert(at, list);
        self.problem.owners.splice(first..first, vec![None; count]);
        self.problem.releasing.splice(first..first, vec![false; count]);
    }

    fn first_of(&self, list: usize) -> usize {
        self.problem.lists[..list].iter().map(|list| list.partitions as usize).sum()
    }

    fn resize_list(&mut self, at: usize, count: u32) {
        let (first, before) = (self.first_of(at), self.problem.lists[at].partitions as usize);
        let count_kept = before.min(count as usize);
        let added = count as usize - count_kept;
        let old = first + count_kept..first + before;
        self.problem.lists[at].partitions = count;
        self.problem.owners.splice(old.clone(), vec![None; added]);
        self.problem.releasing.splice(old, vec![false; added]);
    }

    fn join(&mut self, number: usize) {
        let mut new = node(number);
        if self.traits.node_weights {
            new.weight = self.number(1, 5);
        }
        if self.traits.capacities && self.rng.one_in(2) {
            new.capacity = Some(self.number(0, 60));
        }
        if self.traits.zones {
            new.zone = Some(Arc::from(self.number(0, 2).to_string()));
        }
        new.labels = Arc::new(self.some_labels());
        if self.problem.nodes.iter().all(|other| other.id != new.id) {
            join(&mut self.problem, new);
        }
    }

    /// Something happens to a node or to a list.
    fn change(&mut self) {
        let (number, kind) = (self.below(99), self.below(9));
        let at = self.below(self.problem.nodes.len());
        if at < self.problem.nodes.len() {
            let (weight, capacity) = (self.number(1, 5), self.number(0, 60));
            let labels = Arc::new(self.some_labels());
            let node = &mut self.problem.nodes[at];
            match kind {
                0 => return remove(&mut self.problem, at),
                1 => node.state = NodeState::Draining,
                2 => node.state = NodeState::Away,
                3 => node.state = NodeState::Active,
                4 if self.traits.node_weights => node.weight = weight,
                4 if self.traits.capacities => node.capacity = Some(capacity),
                4 => node.labels = labels,
                _ => {}
            }
        }
        let (list, count) = (self.below(self.problem.lists.len()), self.number(1, 40));
        let status = &mut self.problem.lists[list].status;
        match kind {
            5 => self.resize_list(list, count),
            6 if *status == TaskListStatus::Active => *status = TaskListStatus::Paused,
            6 => *status = TaskListStatus::Active,
            7 => self.add_list(number),
            8 => self.join(number),
            _ => {}
        }
    }

    /// All changes are made, or some of them are while the others are under way.
    fn follow(&mut self, allocation: &Allocation) {
        if self.rng.one_in(2) {
            return follow(&mut self.problem, allocation);
        }
        for change in allocation.changes(&self.problem).collect::<Vec<_>>() {
            let is_made = self.rng.one_in(2);
            self.problem.releasing[change.index] = !is_made && change.from.is_some();
            if is_made {
                self.problem.owners[change.index] = change.to;
            }
        }
    }
}

#[test]
fn whatever_happens_results_are_right() {
    let (mut moves, mut steps_of_known_least) = (0, 0);
    for seed in 0..1_000 {
        let mut sequence = Sequence::new(seed);
        for _ in 0..10 {
            let allocation = allocate(&sequence.problem);
            check(&sequence.problem, &allocation);
            moves += placements(&sequence.problem, &allocation);
            let least = checks::fewest_moves(&sequence.problem, &allocation);
            steps_of_known_least += usize::from(least.is_some());
            sequence.follow(&allocation);
            sequence.change();
        }
    }
    assert!(moves > 100_000 && steps_of_known_least > 1_000, "{moves} {steps_of_known_least}");
}
