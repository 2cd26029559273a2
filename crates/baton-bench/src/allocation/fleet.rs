//! Lists, and nodes that have numbers; and how even the counts of partitions are.

use std::fmt;

use super::show::grouped;

/// Who has each partition, by the numbers of nodes: lists in order, partitions in order.
pub type Owners = Vec<Option<u32>>;

/// Task lists and nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// How many partitions each list has.
    pub lists: Vec<u32>,
    /// The numbers of the nodes, in order.
    pub nodes: Vec<u32>,
}

impl Fleet {
    /// Lists of equal size, as far as possible, and nodes numbered from 0.
    pub fn new(partitions: u32, lists: u32, nodes: u32) -> Self {
        let size = |list| partitions / lists + u32::from(list < partitions % lists);
        Self { lists: (0..lists).map(size).collect(), nodes: (0..nodes).collect() }
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> u32 {
        self.lists.iter().sum()
    }

    /// The same without the node in the middle, and who has what without it.
    pub fn with_one_less(&self, owners: &Owners) -> (Self, Owners) {
        let gone = self.nodes.len() as u32 / 2;
        let nodes = self.nodes.iter().copied().filter(|node| *node != gone).collect();
        let owners = owners.iter().map(|owner| owner.filter(|owner| *owner != gone)).collect();
        (Self { nodes, ..self.clone() }, owners)
    }

    /// The same with one more node.
    pub fn with_one_more(&self) -> Self {
        let new = self.nodes.len() as u32;
        let nodes = self.nodes.iter().copied().chain([new]).collect();
        Self { nodes, ..self.clone() }
    }

    /// How many partitions each node has, in the order of the nodes.
    pub fn counts(&self, owners: &Owners) -> Vec<u64> {
        let places = self.nodes.last().map_or(0, |last| *last as usize + 1);
        let mut counts = vec![0; places];
        for owner in owners.iter().flatten() {
            counts[*owner as usize] += 1;
        }
        self.nodes.iter().map(|node| counts[*node as usize]).collect()
    }

    /// The largest difference between two nodes.
    pub fn difference(&self, owners: &Owners) -> u64 {
        let counts = self.counts(owners);
        let (most, least) = (counts.iter().max(), counts.iter().min());
        most.zip(least).map_or(0, |(most, least)| most - least)
    }

    /// The fewest partitions that must get another owner until no two nodes differ by more than
    /// one: what is beyond the larger of the two even counts or has no owner must go somewhere, and
    /// what is below the smaller one must come from somewhere.
    pub fn fewest_moves(&self, owners: &Owners) -> u64 {
        let (partitions, nodes) = (owners.len() as u64, self.nodes.len() as u64);
        let (smaller, larger) = (partitions / nodes, partitions.div_ceil(nodes));
        let unowned = owners.iter().filter(|owner| owner.is_none()).count() as u64;
        let counts = self.counts(owners);
        let beyond: u64 = counts.iter().map(|count| count.saturating_sub(larger)).sum();
        let below: u64 = counts.iter().map(|count| smaller.saturating_sub(*count)).sum();
        below.max(beyond + unowned)
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (partitions, lists) = (self.partitions().into(), self.lists.len() as u64);
        let (partitions, lists) = (grouped(partitions), grouped(lists));
        let nodes = grouped(self.nodes.len() as u64);
        write!(f, "{partitions} partitions of {lists} lists on {nodes} nodes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_equal_sizes() {
        let fleet = Fleet::new(1_000, 30, 3);
        assert_eq!((fleet.partitions(), fleet.lists[9], fleet.lists[10]), (1_000, 34, 33));
        assert_eq!(fleet.to_string(), "1,000 partitions of 30 lists on 3 nodes");
    }

    #[test]
    fn a_node_leaves_with_its_partitions() {
        let fleet = Fleet::new(4, 1, 4);
        let owners = vec![Some(0), Some(1), Some(2), Some(3)];
        assert_eq!((fleet.difference(&owners), fleet.fewest_moves(&owners)), (0, 0));
        let (fewer, owners) = fleet.with_one_less(&owners);
        assert_eq!(fewer.nodes, [0, 1, 3]);
        assert_eq!(fewer.counts(&owners), [1, 1, 1]);
        assert_eq!(fewer.fewest_moves(&owners), 1);
        assert_eq!(fleet.with_one_more().nodes, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_fewest_moves_are_those_out_of_full_nodes_or_into_empty_ones() {
        let fleet = Fleet::new(12, 1, 4);
        let owners = [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3].map(Some).to_vec();
        assert_eq!((fleet.difference(&owners), fleet.fewest_moves(&owners)), (4, 3));
        let fleet = Fleet::new(8, 1, 3).with_one_more();
        let owners = [0, 0, 0, 1, 1, 1, 2, 2].map(Some).to_vec();
        assert_eq!(fleet.fewest_moves(&owners), 2);
    }
}
