//! The limit of moves under way, and the tolerance.

use super::super::{Limits, NodeState, Reason};
use super::*;

#[test]
fn voluntary_moves_come_a_few_at_a_time() {
    let mut problem = one_list(100, 4);
    step(&mut problem);
    join(&mut problem, node(4));
    problem.limits.moves_max = Some(6);
    let mut rounds = Vec::new();
    loop {
        let allocation = allocate(&problem);
        rounds.push((step(&mut problem), allocation.postponed));
        if rounds.last().is_some_and(|(moves, _)| *moves == 0) {
            break;
        }
    }
    assert_eq!(rounds, [(6, 14), (6, 8), (6, 2), (2, 0), (0, 0)]);
    assert_eq!(counts(&problem), [20; 5]);
}

#[test]
fn partitions_without_an_owner_are_placed_whatever_the_limit() {
    let mut problem = one_list(100, 5);
    step(&mut problem);
    problem.limits.moves_max = Some(0);
    remove(&mut problem, 0);
    assert_eq!(step(&mut problem), 20);
    problem.nodes[0].state = NodeState::Draining;
    assert_eq!(step(&mut problem), 25);
    problem.nodes[0].state = NodeState::Active;
    let allocation = allocate(&problem);
    assert_eq!((allocation.postponed, having(&allocation, Reason::Postponed)), (25, 25));
    assert_eq!(step(&mut problem), 0);
}

#[test]
fn moves_under_way_go_on_and_take_the_place_of_new_ones() {
    let mut problem = one_list(100, 4);
    step(&mut problem);
    join(&mut problem, node(4));
    problem.limits.moves_max = Some(6);
    let first: Vec<_> = allocate(&problem).changes(&problem).collect();
    for change in &first {
        problem.releasing[change.index] = true;
    }
    let second = allocate(&problem);
    assert_eq!(second.changes(&problem).collect::<Vec<_>>(), first, "the same six go on");
    problem.limits.moves_max = Some(2);
    let fewer = allocate(&problem);
    assert_eq!(fewer.changes(&problem).count(), 6, "what was asked for is not taken back");
    for change in &first[..4] {
        problem.owners[change.index] = change.to;
        problem.releasing[change.index] = false;
    }
    problem.limits.moves_max = Some(6);
    let third: Vec<_> = allocate(&problem).changes(&problem).collect();
    assert_eq!(third.len(), 6);
    assert!(first[4..].iter().all(|change| third.contains(change)));
}

/// Nodes with these counts of a list.
fn having_counts(counts: &[u32]) -> Problem {
    let mut problem = one_list(counts.iter().sum(), counts.len());
    let owners = counts.iter().zip(0..).flat_map(|(count, at)| (0..*count).map(move |_| Some(at)));
    problem.owners = owners.collect();
    problem
}

#[test]
fn within_the_tolerance_nothing_moves_and_beyond_it_all_is_evened_out() {
    let mut problem = having_counts(&[22, 18, 20, 20]);
    problem.limits = Limits { tolerance_percent: 10, moves_max: None };
    assert_eq!(step(&mut problem), 0);
    let mut problem = Problem { limits: problem.limits, ..having_counts(&[23, 18, 19, 20]) };
    assert_eq!(step(&mut problem), 3);
    assert_eq!(counts(&problem), [20; 4]);
    let mut problem = Problem { limits: problem.limits, ..having_counts(&[21, 17, 21, 21]) };
    assert_eq!(step(&mut problem), 3, "one node has too few");
    assert_eq!(counts(&problem), [20; 4]);
}

#[test]
fn with_a_tolerance_what_has_no_owner_goes_to_the_nodes_with_the_least() {
    let mut problem = having_counts(&[21, 18, 20, 19]);
    problem.limits.tolerance_percent = 10;
    for at in [0, 1] {
        problem.owners[at] = None;
    }
    assert_eq!(step(&mut problem), 2);
    assert_eq!(counts(&problem), [20, 19, 20, 19]);
    remove(&mut problem, 3);
    assert_eq!(step(&mut problem), 19, "the partitions of a node that left suffice");
    assert!(counts(&problem).iter().all(|count| (24..=28).contains(count)));
}
