//! Problems by hand, most of them from the list of scenarios that the project is to pass.

use super::super::{NodeState, Reason};
use super::*;
use crate::partition::task_list::TaskListStatus;

/// How many partitions each node has once this problem is solved, the fewest first.
fn sorted_counts(mut problem: Problem) -> Vec<usize> {
    step(&mut problem);
    let mut counts = counts(&problem);
    counts.sort_unstable();
    counts
}

#[test]
fn counts_are_even() {
    assert_eq!(sorted_counts(one_list(15, 5)), [3; 5]);
    assert_eq!(sorted_counts(one_list(16, 5)), [3, 3, 3, 3, 4]);
    assert_eq!(sorted_counts(one_list(10, 1)), [10]);
    assert_eq!(sorted_counts(one_list(2, 5)), [0, 0, 0, 1, 1], "more nodes than partitions");
}

#[test]
fn no_partitions_and_no_nodes_are_no_error() {
    assert_eq!(sorted_counts(Problem::default()), Vec::<usize>::new());
    assert_eq!(sorted_counts(Problem::new(Vec::new(), vec![node(0)])), [0]);
    let allocation = allocate(&one_list(3, 0));
    assert_eq!(allocation.reasons, [Reason::NoNodes; 3]);
}

#[test]
fn many_lists_of_one_partition_are_spread_over_all_nodes() {
    let lists = (0..100).map(|number| list(number, 1)).collect();
    let problem = Problem::new(lists, (0..10).map(node).collect());
    assert_eq!(sorted_counts(problem), [10; 10]);
}

#[test]
fn three_moves_even_out_six_two_two_two() {
    let mut problem = one_list(12, 4);
    let owners = [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3];
    problem.owners = owners.into_iter().map(Some).collect();
    assert_eq!(step(&mut problem), 3);
    assert_eq!(counts(&problem), [3; 4]);
}

#[test]
fn only_the_partitions_of_a_node_that_leaves_move() {
    let mut problem = one_list(1_000, 10);
    step(&mut problem);
    remove(&mut problem, 3);
    let allocation = allocate(&problem);
    assert_eq!(allocation.changes(&problem).count(), 100);
    assert_eq!(having(&allocation, Reason::Unowned), 100);
    assert_eq!(step(&mut problem), 100);
}

#[test]
fn a_node_that_joins_gets_its_share_and_nothing_else_moves() {
    let mut problem = one_list(1_000, 10);
    step(&mut problem);
    join(&mut problem, node(99));
    assert_eq!(step(&mut problem), 90);
}

#[test]
fn five_runs_have_one_result() {
    let problem = one_list(1_000, 7);
    let results: Vec<_> = (0..5).map(|_| allocate(&problem)).collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn lists_grow_shrink_and_pause() {
    let mut problem = one_list(10, 3);
    step(&mut problem);
    problem.lists[0].partitions = 6;
    problem.owners.truncate(6);
    problem.releasing.truncate(6);
    step(&mut problem);
    assert_eq!(counts(&problem), [2; 3]);
    problem.lists[0].partitions = 12;
    problem.owners.resize(12, None);
    problem.releasing.resize(12, false);
    assert_eq!(step(&mut problem), 6);
    problem.lists[0].status = TaskListStatus::Paused;
    let allocation = allocate(&problem);
    assert_eq!(allocation.reasons, [Reason::Paused; 12]);
    step(&mut problem);
    assert_eq!(counts(&problem), [0; 3]);
}

#[test]
fn a_draining_node_gives_all_and_an_absent_one_keeps_all() {
    let mut problem = one_list(100, 5);
    step(&mut problem);
    problem.nodes[0].state = NodeState::Draining;
    assert_eq!(step(&mut problem), 20);
    assert_eq!(counts(&problem), [0, 25, 25, 25, 25]);
    problem.nodes[1].state = NodeState::Away;
    assert_eq!(step(&mut problem), 0);
    problem.nodes[0].state = NodeState::Active;
    assert_eq!(step(&mut problem), 18, "the 75 of nodes 2 to 4 are shared with node 0");
    assert_eq!(counts(&problem)[1], 25);
    problem.nodes[1].state = NodeState::Active;
    assert_eq!(step(&mut problem), 5);
    assert_eq!(counts(&problem), [20; 5]);
}

#[test]
fn nodes_have_parts_by_their_weights_up_to_their_capacities() {
    let mut problem = one_list(100, 4);
    problem.nodes[0].weight = 2;
    step(&mut problem);
    assert_eq!(counts(&problem), [40, 20, 20, 20]);
    problem.nodes[0].capacity = Some(10);
    assert_eq!(step(&mut problem), 30);
    assert_eq!(counts(&problem), [10, 30, 30, 30]);
    for node in &mut problem.nodes {
        node.capacity = Some(20);
    }
    let allocation = allocate(&problem);
    assert_eq!(having(&allocation, Reason::NoRoom), 20);
    step(&mut problem);
    assert_eq!(counts(&problem), [20; 4]);
}

#[test]
fn heavy_partitions_count_by_their_weight() {
    let heavy = TaskList { weight: 10, ..list(1, 5) };
    let mut problem = Problem::new(vec![list(0, 50), heavy], (0..5).map(node).collect());
    step(&mut problem);
    let allocation = allocate(&problem);
    assert!(allocation.nodes.iter().all(|node| node.load == 20), "{:?}", allocation.nodes);
    assert_eq!(counts(&problem), [11; 5], "one heavy partition each");
}

#[test]
fn lists_with_required_labels_stay_on_the_nodes_that_have_them() {
    let requires = labels(&[("disk", "ssd")]);
    let pinned = TaskList { requires: requires.clone(), ..list(1, 10) };
    let mut problem = Problem::new(vec![list(0, 10), pinned], (0..4).map(node).collect());
    for node in &mut problem.nodes[..2] {
        node.labels = Arc::new(requires.clone());
    }
    step(&mut problem);
    assert_eq!(counts(&problem), [5; 4], "the other list makes up for it");
    assert!(problem.owners[10..].iter().all(|owner| owner.is_some_and(|node| node < 2)));
    problem.nodes[0].labels = Arc::default();
    let allocation = allocate(&problem);
    assert_eq!(having(&allocation, Reason::Labels), 5);
    step(&mut problem);
    assert_eq!(counts(&problem)[1], 10, "it has all that only it may have");
    problem.nodes[1].labels = Arc::default();
    assert_eq!(having(&allocate(&problem), Reason::NoLabels), 10);
}

#[test]
fn what_is_being_released_goes_on_and_is_kept_when_there_is_room_again() {
    let mut problem = one_list(12, 3);
    step(&mut problem);
    join(&mut problem, node(3));
    let first = allocate(&problem);
    let changes: Vec<_> = first.changes(&problem).collect();
    assert_eq!(changes.len(), 3);
    for change in &changes {
        problem.releasing[change.index] = true;
    }
    assert_eq!(allocate(&problem), first, "asking changes nothing");
    // One move was made; the others go on as they were.
    problem.owners[changes[0].index] = changes[0].to;
    problem.releasing[changes[0].index] = false;
    let second = allocate(&problem);
    assert_eq!(second.changes(&problem).collect::<Vec<_>>(), changes[1..]);
    // The new node is gone again: what it had needs an owner, and nothing else moves.
    remove(&mut problem, 3);
    let third: Vec<_> = allocate(&problem).changes(&problem).collect();
    assert_eq!(third.len(), 1);
    assert_eq!((third[0].index, third[0].to), (changes[0].index, changes[0].from));
}

#[test]
fn of_two_that_could_leave_the_one_that_is_being_released_does() {
    let mut problem = one_list(4, 2);
    problem.owners = vec![Some(0); 4];
    for pair in [[0, 1], [2, 3], [1, 2]] {
        problem.releasing = (0..4).map(|at| pair.contains(&at)).collect();
        let changes = allocate(&problem).changes(&problem).map(|it| it.index).collect::<Vec<_>>();
        assert_eq!(changes, pair);
    }
}

#[test]
fn what_is_being_released_leaves_before_what_its_node_has_more_of() {
    let mut problem = Problem::new(vec![list(0, 6), list(1, 1)], (0..2).map(node).collect());
    problem.owners = vec![Some(0); 7];
    let moved = |problem: &Problem| -> Vec<_> {
        allocate(problem).changes(problem).map(|it| it.index).collect()
    };
    assert!(!moved(&problem).contains(&6), "it is the only one of its list");
    problem.releasing[6] = true;
    assert!(moved(&problem).contains(&6));
}

#[test]
fn of_the_nodes_above_their_share_the_one_that_is_releasing_gives() {
    let mut problem = one_list(6, 3);
    step(&mut problem);
    join(&mut problem, node(3));
    for index in 0..6 {
        problem.releasing.fill(false);
        problem.releasing[index] = true;
        let changes = allocate(&problem).changes(&problem).map(|it| it.index).collect::<Vec<_>>();
        assert_eq!(changes, [index]);
    }
}
