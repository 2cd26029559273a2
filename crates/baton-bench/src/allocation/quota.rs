//! A quota for each list: its partitions are dealt to the nodes in turn, as if it were the only
//! one. What is beyond the quota of a node moves.

use super::contender::Contender;
use super::fleet::{Fleet, Owners};

/// Keeps what is owned now, up to the quota.
pub struct Quota;

impl Contender for Quota {
    fn name(&self) -> &'static str {
        "quota for each list"
    }

    fn assign(&self, fleet: &Fleet, owners: &Owners) -> Owners {
        let mut after = owners.clone();
        let mut rest = &mut after[..];
        for partitions in &fleet.lists {
            let (list, others) = rest.split_at_mut(*partitions as usize);
            deal(fleet, list);
            rest = others;
        }
        after
    }
}

/// Deals one list. Where it cannot be dealt evenly, the first nodes have one more.
fn deal(fleet: &Fleet, list: &mut [Option<u32>]) {
    let (partitions, nodes) = (list.len(), fleet.nodes.len());
    let place_of = |node: u32| fleet.nodes.binary_search(&node).ok();
    let mut quota: Vec<usize> =
        (0..nodes).map(|at| partitions / nodes + usize::from(at < partitions % nodes)).collect();
    for owner in list.iter_mut() {
        match owner.and_then(place_of).and_then(|at| quota.get_mut(at)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => *owner = None,
        }
    }
    let places = fleet.nodes.iter().zip(quota);
    let mut places = places.flat_map(|(node, left)| std::iter::repeat_n(*node, left));
    for owner in list.iter_mut().filter(|owner| owner.is_none()) {
        *owner = places.next();
    }
}
