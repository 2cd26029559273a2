//! Lists are spread over nodes and zones, beside the loads.

use super::*;

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
fn each_list_is_spread_over_all_nodes() {
    let mut problem = thirty_lists((0..10).map(node).collect());
    step(&mut problem);
    assert_eq!(difference(&problem), 1, "dealt from the start");
    for number in [3, 5] {
        remove(&mut problem, number);
        step(&mut problem);
    }
    let after_leaving = difference(&problem);
    for number in [8, 9] {
        join(&mut problem, node(60 + number));
        step(&mut problem);
    }
    assert!(after_leaving <= 2 && difference(&problem) <= 3);
}

#[test]
fn each_list_is_spread_over_zones() {
    let zones = ["a", "b", "c"];
    let nodes = (0..12).map(|number| in_zone(number, zones[number / 4 % 3])).collect();
    let mut problem = thirty_lists(nodes);
    step(&mut problem);
    assert!(zone_difference(&problem) <= 1 && difference(&problem) <= 2);
    // One node of each zone is replaced.
    for number in [1, 4, 7] {
        let gone = problem.nodes[number].zone.clone().expect("it has one");
        remove(&mut problem, number);
        step(&mut problem);
        join(&mut problem, in_zone(20 + number, &gone));
        step(&mut problem);
    }
    assert!(zone_difference(&problem) <= 4 && difference(&problem) <= 3);
}
