//! Rendezvous hashing: of all nodes, the one whose hash with the partition is the largest.

use super::contender::{Contender, hash, node_hash};
use super::fleet::{Fleet, Owners};

/// Needs to know nothing of what is owned now.
pub struct Rendezvous;

impl Contender for Rendezvous {
    fn name(&self) -> &'static str {
        "rendezvous"
    }

    fn assign(&self, fleet: &Fleet, owners: &Owners) -> Owners {
        let nodes: Vec<_> = fleet.nodes.iter().map(|node| (node_hash(*node), *node)).collect();
        let owner = |partition: u64| {
            let partition = hash(partition);
            let by_hash = nodes.iter().max_by_key(|(node, _)| hash(partition ^ node));
            by_hash.map(|(_, node)| *node)
        };
        (0..owners.len() as u64).map(owner).collect()
    }
}
