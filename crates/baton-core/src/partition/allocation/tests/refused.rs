//! Problems that cannot be used.

use super::super::{InvalidProblem, Limits};
use super::*;

fn refused(change: impl FnOnce(&mut Problem)) -> String {
    let lists = vec![list(0, 2), list(1, 3)];
    let mut problem = Problem::new(lists, (0..2).map(node).collect());
    assert_eq!(problem.check(), Ok(()));
    change(&mut problem);
    problem.check().expect_err("it cannot be used").to_string()
}

#[test]
fn what_is_wrong_is_named_with_both_numbers() {
    let message = refused(|problem| problem.nodes[1].weight = 0);
    assert_eq!(message, "node node-01: weight is 0; it must be 1 to 1000");
    let message = refused(|problem| problem.nodes[0].weight = 1_001);
    assert_eq!(message, "node node-00: weight is 1001; it must be 1 to 1000");
    let message = refused(|problem| problem.lists[1].weight = 0);
    assert_eq!(message, "task list default/list-0001: weight is 0; it must be 1 to 1000");
    let message = refused(|problem| problem.owners.truncate(4));
    assert_eq!(message, "owners has 4 entries; the lists have 5 partitions");
    let message = refused(|problem| problem.releasing.push(false));
    assert_eq!(message, "releasing has 6 entries; the lists have 5 partitions");
    let message = refused(|problem| problem.owners[3] = Some(2));
    assert_eq!(
        message,
        "the owner of default/list-0001#1 is node 2, counted from 0; there are 2 nodes"
    );
    let message = refused(|problem| {
        problem.limits = Limits { tolerance_percent: 101, ..Limits::default() };
    });
    assert_eq!(message, "tolerance is 101 %; it must be 0 to 100 %");
}

#[test]
fn ids_stand_in_order() {
    let message = refused(|problem| problem.nodes.swap(0, 1));
    assert_eq!(message, "node node-01 stands before node-00: give them in order, each once");
    let message = refused(|problem| problem.nodes[1] = problem.nodes[0].clone());
    assert_eq!(message, "node node-00 stands before node-00: give them in order, each once");
    let message = refused(|problem| problem.lists.swap(0, 1));
    assert!(message.starts_with("task list default/list-0001 stands before"), "{message}");
    let message = refused(|problem| problem.lists[1] = problem.lists[0].clone());
    assert!(message.starts_with("two task lists are named default/list-0000"), "{message}");
}

#[test]
fn weights_out_of_range_count_as_the_nearest_in_it() {
    let mut problem = one_list(10, 2);
    problem.nodes[0].weight = 0;
    let unfit = matches!(problem.check(), Err(InvalidProblem::Weight { given: 0, .. }));
    assert!(unfit, "it is refused, and no reason to fail a coordinator");
    let allocation = allocate(&problem);
    assert!(allocation.nodes.iter().all(|node| node.load == 5));
}

#[test]
#[should_panic(expected = "owners has an entry for each partition")]
fn owners_that_do_not_fit_the_lists_are_a_defect_of_the_caller() {
    let mut problem = one_list(10, 2);
    problem.owners.pop();
    allocate(&problem);
}
