//! Every tiny problem, compared with the best of all its solutions.

use super::super::{Allocation, NodeState, Problem, Share, allocate};
use super::checks::check;
use super::{list, node, placements};

/// All sequences of this length of numbers below the base.
fn sequences(base: u32, length: u32) -> impl Iterator<Item = Vec<u32>> {
    (0..base.pow(length)).map(move |mut number| {
        let digit = |_| {
            let digit = number % base;
            number /= base;
            digit
        };
        (0..length).map(digit).collect()
    })
}

/// The fewest moves to a solution that is within the bound, tried one by one.
fn fewest_by_trying(problem: &Problem, allocation: &Allocation) -> usize {
    let (nodes, partitions) = (problem.nodes.len() as u32, problem.owners.len() as u32);
    let is_within_bound = |owners: &[u32]| {
        problem.nodes.iter().zip(&allocation.nodes).zip(0..).all(|((node, load), at)| {
            let count = owners.iter().filter(|owner| **owner == at).count() as u64;
            let Share { units, scale } = load.share;
            let differs = (count * scale).abs_diff(units);
            let may_own = node.state == NodeState::Active || count == 0;
            may_own && differs < scale && count <= u64::from(node.capacity.unwrap_or(u32::MAX))
        })
    };
    let moves = |owners: &[u32]| {
        let pairs = problem.owners.iter().zip(owners);
        pairs.filter(|(before, after)| **before != Some(**after)).count()
    };
    let solutions = sequences(nodes, partitions).filter(|owners| is_within_bound(owners));
    solutions.map(|owners| moves(&owners)).min().expect("there is one")
}

/// Every way in which the partitions can be owned, or not, at first.
fn check_all_starts(problem: &mut Problem) -> usize {
    let (nodes, partitions) = (problem.nodes.len() as u32, problem.owners.len() as u32);
    let mut count = 0;
    for owners in sequences(nodes + 1, partitions) {
        problem.owners = owners.iter().map(|owner| owner.checked_sub(1)).collect();
        let allocation = allocate(problem);
        check(problem, &allocation);
        assert_eq!(placements(problem, &allocation), fewest_by_trying(problem, &allocation));
        count += 1;
    }
    count
}

#[test]
fn no_solution_within_the_bound_has_fewer_moves() {
    let mut count = 0;
    for (partitions, nodes) in [(1, 3), (2, 3), (3, 3), (4, 3), (5, 3), (6, 2), (3, 4), (4, 4)] {
        let lists = vec![list(0, 1), list(1, partitions - 1)];
        let lists: Vec<_> = lists.into_iter().filter(|list| list.partitions > 0).collect();
        let mut problem = Problem::new(lists, (0..nodes).map(node).collect());
        count += check_all_starts(&mut problem);
        problem.nodes[0].weight = 3;
        count += check_all_starts(&mut problem);
        problem.nodes[1].capacity = Some(1);
        count += check_all_starts(&mut problem);
        problem.nodes[1].state = NodeState::Draining;
        count += check_all_starts(&mut problem);
    }
    assert_eq!(count, 11_372);
}
