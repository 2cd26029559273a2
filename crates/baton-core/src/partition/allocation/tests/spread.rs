//! Lists are spread over nodes and zones, beside the loads.

use super::*;
use crate::rng::Rng;

/// How many partitions of each list each node has.
fn by_list(problem: &Problem) -> Vec<Vec<usize>> {
    let mut first = 0;
    let of_list = |list: &TaskList| {
        let mut counts = vec![0; problem.nodes.len()];
        let after = first + list.partitions as usize;
        problem.owners[first..after].iter().flatten().for_each(|at| counts[*at as usize] += 1);
        first = after;
        counts
    };
    problem.lists.iter().map(of_list).collect()
}

/// The largest difference between two nodes in the count of one list.
fn difference(problem: &Problem) -> usize {
    let of_list = |counts: Vec<usize>| {
        let most = counts.iter().max().copied().unwrap_or(0);
        most - counts.iter().min().copied().unwrap_or(0)
    };
    by_list(problem).into_iter().map(of_list).max().unwrap_or(0)
}

/// The largest difference between two zones in the count of one list, where zones have as many
/// nodes.
fn zone_difference(problem: &Problem) -> usize {
    let mut largest = 0;
    for counts in by_list(problem) {
        let mut zones = BTreeMap::new();
        for (node, count) in problem.nodes.iter().zip(counts) {
            *zones.entry(node.zone.clone()).or_insert(0) += count;
        }
        let (most, least) = (zones.values().max(), zones.values().min());
        largest = largest.max(most.copied().unwrap_or(0) - least.copied().unwrap_or(0));
    }
    largest
}

fn thirty_lists(nodes: Vec<AllocationNode>) -> Problem {
    Problem::new((0..30).map(|number| list(number, 50 + number as u32)).collect(), nodes)
}

#[test]
fn each_list_is_dealt_to_all_nodes_and_zones() {
    let mut problem = thirty_lists((0..10).map(node).collect());
    step(&mut problem);
    assert_eq!(difference(&problem), 1);
    let zones = ["a", "b", "c"];
    let nodes = (0..12).map(|number| in_zone(number, zones[number / 4]));
    let mut problem = thirty_lists(nodes.collect());
    step(&mut problem);
    assert_eq!((difference(&problem), zone_difference(&problem)), (1, 1));
}

#[test]
fn lists_stay_spread_while_nodes_are_replaced() {
    let zones = ["a", "b", "c"];
    let nodes = (0..12).map(|number| in_zone(number, zones[number / 4])).collect();
    let mut problem = thirty_lists(nodes);
    step(&mut problem);
    let mut rng = Rng::new(1);
    let mut differences = (0, 0);
    for number in 100..200 {
        let gone = rng.below(problem.nodes.len() as u64) as usize;
        let zone = problem.nodes[gone].zone.clone().expect("it has one");
        remove(&mut problem, gone);
        step(&mut problem);
        join(&mut problem, in_zone(number, &zone));
        step(&mut problem);
        differences.0 = differences.0.max(difference(&problem));
        differences.1 = differences.1.max(zone_difference(&problem));
    }
    assert!(differences.0 <= 4 && differences.1 <= 5, "of nodes, of zones: {differences:?}");
}

/// Nodes 0 and 1 in zone a, 2 and 3 in zone b, and two lists of which each node has as many as are
/// said; one more of each list has no owner.
fn two_zones(counts: [[u32; 4]; 2]) -> Problem {
    let zone = |number| if number < 2 { "a" } else { "b" };
    let nodes = (0..4).map(|number| in_zone(number, zone(number))).collect();
    let sizes = counts.map(|counts| counts.iter().sum::<u32>() + 1);
    let mut problem = Problem::new(vec![list(0, sizes[0]), list(1, sizes[1])], nodes);
    let of_list = |counts: [u32; 4]| {
        let owned = (0..).zip(counts).flat_map(|(node, count)| (0..count).map(move |_| Some(node)));
        owned.chain([None])
    };
    problem.owners = counts.into_iter().flat_map(of_list).collect();
    problem
}

#[test]
fn a_partition_goes_to_the_zone_that_has_fewer_of_its_list() {
    for (counts, first, second) in
        [([[2, 0, 0, 0], [0, 1, 2, 1]], 3, 1), ([[0, 0, 2, 0], [2, 1, 0, 1]], 1, 3)]
    {
        let problem = two_zones(counts);
        let owners = allocate(&problem).owners;
        assert_eq!((owners[2], owners[7]), (Some(first), Some(second)));
    }
}
