//! A hash ring: each node has a hundred points, and a partition goes to the next one.

use super::contender::{Contender, hash, node_hash};
use super::fleet::{Fleet, Owners};

/// How many points a node has.
const POINTS: u64 = 100;

/// Needs to know nothing of what is owned now.
pub struct Ring;

impl Contender for Ring {
    fn name(&self) -> &'static str {
        "ring, 100 points"
    }

    fn assign(&self, fleet: &Fleet, owners: &Owners) -> Owners {
        let points = fleet.nodes.iter().flat_map(|node| {
            (0..POINTS).map(|point| (hash(node_hash(*node).wrapping_add(point)), *node))
        });
        let mut ring: Vec<_> = points.collect();
        ring.sort_unstable();
        let owner = |partition: u64| {
            let at = ring.partition_point(|(point, _)| *point < hash(partition));
            ring.get(at).or_else(|| ring.first()).map(|(_, node)| *node)
        };
        (0..owners.len() as u64).map(owner).collect()
    }
}
