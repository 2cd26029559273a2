//! Task lists by the nodes that may own their partitions.

use std::collections::BTreeMap;

use super::problem::{AllocationNode, NodeState, Problem};
use crate::partition::task_list::TaskListStatus;

/// Task lists whose partitions the same nodes may own.
pub(super) struct Group {
    /// The lists, in order.
    pub(super) lists: Vec<u32>,
    /// The nodes, in order.
    pub(super) nodes: Vec<u32>,
}

/// The active lists. Those that the fewest nodes may own come first: what is placed later evens out
/// what they leave uneven.
pub(super) fn groups(problem: &Problem) -> Vec<Group> {
    let mut by_labels: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for (list, at) in problem.lists.iter().zip(0..) {
        if list.status == TaskListStatus::Active {
            by_labels.entry(&list.requires).or_default().push(at);
        }
    }
    let mut by_nodes: BTreeMap<(usize, Vec<u32>), Vec<u32>> = BTreeMap::new();
    for (labels, lists) in by_labels {
        let may_own = |node: &AllocationNode| node.state == NodeState::Active && node.has(labels);
        let nodes = problem.nodes.iter().zip(0..).filter(|(node, _)| may_own(node));
        let nodes: Vec<u32> = nodes.map(|(_, at)| at).collect();
        by_nodes.entry((nodes.len(), nodes)).or_default().extend(lists);
    }
    let group = |((_, nodes), mut lists): (_, Vec<u32>)| {
        lists.sort_unstable();
        Group { lists, nodes }
    };
    by_nodes.into_iter().map(group).collect()
}
