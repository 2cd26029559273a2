//! What holds for every result.

use super::super::{Allocation, Limits, NodeState, Problem, Reason, Share, allocate};
use super::{follow, placements};
use crate::partition::task_list::{TaskList, TaskListStatus};

/// The list of each partition.
fn lists(problem: &Problem) -> impl Iterator<Item = &TaskList> {
    let lists = problem.lists.iter();
    lists.flat_map(|list| std::iter::repeat_n(list, list.partitions as usize))
}

/// Asserts everything that holds for this result.
pub fn check(problem: &Problem, allocation: &Allocation) {
    assert_eq!(problem.check(), Ok(()));
    assert_eq!(&allocate(problem), allocation, "the same problem has the same result");
    owners_may_own(problem, allocation);
    only_what_has_no_room_is_unowned(problem, allocation);
    loads_are_within_the_bound(problem, allocation);
    moves_are_limited(problem, allocation);
    if let Some(least) = fewest_moves(problem, allocation) {
        assert_eq!(placements(problem, allocation), least, "moves, and the fewest");
    }
    if allocation.postponed == 0 {
        let mut next = problem.clone();
        follow(&mut next, allocation);
        let changes: Vec<_> = allocate(&next).changes(&next).collect();
        assert_eq!(changes, [], "a result is final");
    }
}

fn owners_may_own(problem: &Problem, allocation: &Allocation) {
    let (before, after) = (&problem.owners, &allocation.owners);
    let mut loads = vec![0; problem.nodes.len()];
    for (list, (before, after)) in lists(problem).zip(before.iter().zip(after)) {
        let state_before = before.map(|node| problem.nodes[node as usize].state);
        if list.status == TaskListStatus::Paused {
            assert_eq!(*after, None, "a paused list has no owners");
            continue;
        }
        if state_before == Some(NodeState::Away) {
            assert_eq!(after, before, "a node that is away keeps what it has");
        }
        let Some(owner) = *after else { continue };
        let node = &problem.nodes[owner as usize];
        loads[owner as usize] += u64::from(list.weight);
        if before != after {
            assert_eq!(node.state, NodeState::Active, "only active nodes get partitions");
        }
        if node.state == NodeState::Active {
            assert!(node.has(&list.requires), "an owner has the labels that the list requires");
        }
        assert_ne!(node.state, NodeState::Draining, "a draining node gives everything away");
    }
    for ((node, load), found) in problem.nodes.iter().zip(loads).zip(&allocation.nodes) {
        assert_eq!(found.load, load, "the load of {}", node.id);
        if node.state == NodeState::Active {
            let most = node.capacity.map_or(u64::MAX, u64::from);
            assert!(load <= most, "{} has {load}, its capacity is {most}", node.id);
        }
    }
}

fn only_what_has_no_room_is_unowned(problem: &Problem, allocation: &Allocation) {
    for (list, owner) in lists(problem).zip(&allocation.owners) {
        if owner.is_some() || list.status == TaskListStatus::Paused {
            continue;
        }
        for (node, load) in problem.nodes.iter().zip(&allocation.nodes) {
            let room = node.capacity.map_or(u64::MAX, u64::from).saturating_sub(load.load);
            let may_own = node.state == NodeState::Active && node.has(&list.requires);
            assert!(!may_own || room < u64::from(list.weight), "{} has room", node.id);
        }
    }
}

/// The weight of the heaviest partition of the active lists.
fn heaviest(problem: &Problem) -> i128 {
    let active = problem.lists.iter().filter(|list| list.status == TaskListStatus::Active);
    active.map(|list| i128::from(list.weight)).max().unwrap_or(1)
}

fn loads_are_within_the_bound(problem: &Problem, allocation: &Allocation) {
    if allocation.postponed > 0 {
        return;
    }
    let (heaviest, percent) = (heaviest(problem), problem.limits.tolerance_percent);
    for (node, load) in problem.nodes.iter().zip(&allocation.nodes) {
        let Share { units, scale } = load.share;
        let (units, scale) = (i128::from(units), i128::from(scale));
        let difference = (i128::from(load.load) * scale - units).abs();
        let is_tolerated = difference * 100 <= units * i128::from(percent);
        assert!(
            difference < heaviest * scale || is_tolerated,
            "{} has {} of a share of {}, the heaviest weighs {heaviest}",
            node.id,
            load.load,
            load.share
        );
    }
}

fn moves_are_limited(problem: &Problem, allocation: &Allocation) {
    let Some(most) = problem.limits.moves_max else {
        assert_eq!(allocation.postponed, 0);
        return;
    };
    let changes = allocation.changes(problem);
    let voluntary = changes.filter(|it| allocation.reasons[it.index] == Reason::Balance);
    let under_way = problem.releasing.iter().filter(|it| **it).count();
    assert!(voluntary.count() <= under_way.max(most as usize));
}

/// The fewest moves by which the bound can be reached, where that is known: if all partitions weigh
/// the same, any node may own them all, and there is room for all.
pub fn fewest_moves(problem: &Problem, allocation: &Allocation) -> Option<usize> {
    let active = || problem.lists.iter().filter(|it| it.status == TaskListStatus::Active);
    let weight = u64::from(active().next()?.weight);
    let are_alike = active().all(|it| u64::from(it.weight) == weight && it.requires.is_empty());
    let has_room = !allocation.reasons.contains(&Reason::NoRoom);
    let is_free = problem.limits == Limits::default();
    if !are_alike || !has_room || !is_free || allocation.reasons.contains(&Reason::NoNodes) {
        return None;
    }
    let mut kept = vec![0_u64; problem.nodes.len()];
    let mut others = 0;
    for (list, owner) in lists(problem).zip(&problem.owners) {
        match owner.map(|node| (node as usize, problem.nodes[node as usize].state)) {
            _ if list.status == TaskListStatus::Paused => {}
            Some((node, NodeState::Active)) => kept[node] += 1,
            Some((_, NodeState::Away)) => {}
            _ => others += 1,
        }
    }
    let (mut leaving, mut coming) = (others, 0);
    for ((node, load), kept) in problem.nodes.iter().zip(&allocation.nodes).zip(kept) {
        if node.state == NodeState::Active {
            let Share { units, scale } = load.share;
            leaving += kept.saturating_sub(units.div_ceil(scale * weight));
            coming += (units / (scale * weight)).saturating_sub(kept);
        }
    }
    Some(leaving.max(coming) as usize)
}
