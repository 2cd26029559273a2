//! The sentences that say why.

use super::super::{Limits, NodeState};
use super::*;
use crate::partition::task_list::TaskListStatus;

/// The explanations of all partitions, each once.
fn explained(problem: &Problem) -> Vec<String> {
    let allocation = allocate(problem);
    let sentence = |at| allocation.explain(problem, at).expect("it is there").to_string();
    let mut sentences: Vec<String> = (0..problem.owners.len()).map(sentence).collect();
    assert!(allocation.explain(problem, problem.owners.len()).is_none());
    sentences.sort_unstable();
    sentences.dedup();
    sentences
}

/// The first `count` partitions of this number are on node 0, the others nowhere.
fn on_the_first(partitions: u32, count: usize, nodes: usize) -> Problem {
    let mut problem = one_list(partitions, nodes);
    problem.owners[..count].fill(Some(0));
    problem
}

#[test]
fn what_stays_is_explained() {
    let mut problem = on_the_first(4, 4, 1);
    assert_eq!(explained(&problem), ["stays on node-00: it has 4 of a share of 4"]);
    problem.nodes[0].state = NodeState::Away;
    assert_eq!(explained(&problem), ["stays on node-00: it is away and may come back"]);
    let mut problem = on_the_first(4, 4, 3);
    problem.limits.moves_max = Some(0);
    assert_eq!(
        explained(&problem),
        [
            "stays on node-00 for now: the limit of 0 moves at a time is reached",
            "stays on node-00: it has 4 of a share of 1.3"
        ]
    );
    let mut problem = on_the_first(30, 16, 2);
    problem.owners[16..].fill(Some(1));
    problem.limits = Limits { moves_max: None, tolerance_percent: 10 };
    assert_eq!(
        explained(&problem),
        [
            "stays on node-00: 16 differs by less than 10 % from its share of 15",
            "stays on node-01: 14 differs by less than 10 % from its share of 15"
        ]
    );
}

#[test]
fn what_moves_is_explained() {
    let mut problem = on_the_first(4, 4, 2);
    assert_eq!(
        explained(&problem),
        [
            "moves from node-00 to node-01: node-00 has 4 of a share of 2, node-01 has 0 of 2",
            "stays on node-00: it has 2 of a share of 2"
        ]
    );
    problem.nodes[0].capacity = Some(1);
    assert_eq!(
        explained(&problem)[0],
        "moves from node-00 to node-01: node-00 has 4, its capacity is 1"
    );
    problem.nodes[0].state = NodeState::Draining;
    assert_eq!(explained(&problem), ["moves from node-00 to node-01: node-00 is draining"]);
    problem.nodes[0].state = NodeState::Active;
    problem.lists[0].requires = labels(&[("disk", "ssd"), ("gpu", "yes")]);
    problem.nodes[1].labels = Arc::new(problem.lists[0].requires.clone());
    assert_eq!(
        explained(&problem),
        ["moves from node-00 to node-01: node-00 lacks a label of disk=ssd, gpu=yes"]
    );
    let problem = on_the_first(3, 0, 2);
    assert!(explained(&problem).iter().all(|it| {
        it.starts_with("goes to node-") && it.ends_with(" of a share of 1.5: no node has it")
    }));
}

#[test]
fn what_has_no_owner_is_explained() {
    assert_eq!(explained(&on_the_first(2, 0, 0)), ["has no owner: no node is active"]);
    let mut problem = on_the_first(2, 2, 1);
    problem.nodes[0].capacity = Some(0);
    assert_eq!(
        explained(&problem),
        ["leaves node-00 and has no owner: all nodes are at their capacity"]
    );
    problem.lists[0].weight = 7;
    assert_eq!(
        explained(&problem),
        ["leaves node-00 and has no owner: no node has room for its weight of 7"]
    );
    problem.lists[0].requires = labels(&[("disk", "ssd")]);
    assert_eq!(
        explained(&problem),
        ["leaves node-00 and has no owner: no active node has the labels disk=ssd"]
    );
    problem.lists[0].status = TaskListStatus::Paused;
    assert_eq!(explained(&problem), ["leaves node-00 and has no owner: its task list is paused"]);
}
