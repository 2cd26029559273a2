//! The allocator on small problems by hand, on all tiny ones, and on random ones.

mod checks;
mod every_tiny_one;
mod explained;
mod limits;
mod random;
mod refused;
mod scenarios;
mod spread;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Allocation, AllocationNode, Problem, Reason, allocate};
use crate::ids::NodeId;
use crate::partition::task_list::TaskList;

/// A task list, numbered so that ids are in order.
fn list(number: usize, partitions: u32) -> TaskList {
    let id = format!("list-{number:04}").parse().expect("a plain name");
    TaskList::new(id, partitions)
}

/// An active node, numbered so that ids are in order.
fn node(number: usize) -> AllocationNode {
    AllocationNode::new(NodeId::new(&format!("node-{number:02}")).expect("a plain name"))
}

/// One list without owners, and nodes from 0.
fn one_list(partitions: u32, nodes: usize) -> Problem {
    Problem::new(vec![list(0, partitions)], (0..nodes).map(node).collect())
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn in_zone(number: usize, zone: &str) -> AllocationNode {
    AllocationNode { zone: Some(Arc::from(zone)), ..node(number) }
}

/// Makes the problem that comes after this result: every change was made.
fn follow(problem: &mut Problem, allocation: &Allocation) {
    problem.owners.clone_from(&allocation.owners);
    problem.releasing.fill(false);
}

/// Allocates and follows; returns the number of partitions that got an owner or another one.
fn step(problem: &mut Problem) -> usize {
    let allocation = allocate(problem);
    let moves = placements(problem, &allocation);
    checks::check(problem, &allocation);
    follow(problem, &allocation);
    moves
}

/// How many partitions get an owner, or another one.
fn placements(problem: &Problem, allocation: &Allocation) -> usize {
    allocation.changes(problem).filter(|change| change.to.is_some()).count()
}

/// Takes a node away, and its partitions from it.
fn remove(problem: &mut Problem, node: usize) {
    problem.nodes.remove(node);
    for owner in &mut problem.owners {
        *owner = match *owner {
            Some(at) if at as usize == node => None,
            Some(at) if at as usize > node => Some(at - 1),
            owner => owner,
        };
    }
}

/// Adds a node, in the order of ids.
fn join(problem: &mut Problem, node: AllocationNode) {
    let at = problem.nodes.partition_point(|other| other.id < node.id);
    problem.nodes.insert(at, node);
    for owner in problem.owners.iter_mut().flatten() {
        *owner += u32::from(*owner as usize >= at);
    }
}

/// How many partitions each node has.
fn counts(problem: &Problem) -> Vec<usize> {
    let mut counts = vec![0; problem.nodes.len()];
    for owner in problem.owners.iter().flatten() {
        counts[*owner as usize] += 1;
    }
    counts
}

/// How many partitions have this reason.
fn having(allocation: &Allocation, reason: Reason) -> usize {
    allocation.reasons.iter().filter(|it| **it == reason).count()
}
