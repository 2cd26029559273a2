//! The allocator of baton, tried several times.

use std::hint::black_box;

use baton::NodeId;
use baton_core::partition::TaskList;
use baton_core::partition::allocation::{AllocationNode, Problem, allocate};
use baton_store::clock::{Clock, SystemClock};

use super::contender::{Measured, Step};
use super::fleet::{Fleet, Owners};

/// How often each step is tried.
const TIMES: usize = 11;

/// Measures each step. What is timed is the call alone, with a problem that is there.
pub fn measure(fleet: &Fleet) -> Measured {
    let (scratch, first) = step(fleet, &vec![None; fleet.partitions() as usize]);
    let (fewer, left) = fleet.with_one_less(&first);
    let (leave, _) = step(&fewer, &left);
    let (join, _) = step(&fleet.with_one_more(), &first);
    Measured { name: "baton", scratch: Some(scratch), leave: Some(leave), join: Some(join) }
}

fn step(fleet: &Fleet, before: &Owners) -> (Step, Owners) {
    let problem = problem(fleet, before);
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let start = SystemClock.now();
        black_box(allocate(black_box(&problem)));
        times.push(SystemClock.now().since(start));
    }
    let number = |at: u32| fleet.nodes[at as usize];
    let owners = allocate(&problem).owners;
    let after = owners.into_iter().map(|owner| owner.map(number)).collect();
    (Step::of(times, fleet, before, &after), after)
}

/// The fleet, and who has what in it, as the allocator wants them.
fn problem(fleet: &Fleet, owners: &Owners) -> Problem {
    let list = |(number, partitions): (usize, &u32)| {
        let id = format!("list-{number:06}").parse().expect("a plain name");
        TaskList::new(id, *partitions)
    };
    let node = |number: &u32| {
        AllocationNode::new(NodeId::new(&format!("node-{number:06}")).expect("a plain name"))
    };
    let lists = fleet.lists.iter().enumerate().map(list).collect();
    let mut problem = Problem::new(lists, fleet.nodes.iter().map(node).collect());
    let place = |number: u32| fleet.nodes.binary_search(&number).ok().map(|at| at as u32);
    problem.owners = owners.iter().map(|owner| owner.and_then(place)).collect();
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_even_and_moves_the_fewest() {
        let measured = measure(&Fleet::new(1_000, 30, 9));
        for step in [measured.scratch, measured.leave, measured.join].into_iter().flatten() {
            assert_eq!((step.moves, step.times.len()), (step.fewest, TIMES));
            assert!(step.difference <= 1);
        }
    }
}
