//! What the allocator is given, and whether it can be used.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::hash;
use crate::ids::NodeId;
use crate::partition::task_list::{
    InvalidTaskList, Partition, TaskList, TaskListStatus, WEIGHT_MAX,
};

/// The largest tolerance, in percent.
const TOLERANCE_MAX: u32 = 100;

/// Lists, nodes, and who owns what now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The task lists, in the order of their ids.
    pub lists: Vec<TaskList>,
    /// The nodes, in the order of their ids.
    pub nodes: Vec<AllocationNode>,
    /// Who has each partition now, as an index of `nodes`. The partitions of the first list come
    /// first, in the order of their numbers.
    pub owners: Vec<Option<u32>>,
    /// Was the owner of this partition asked to release it? In the order of `owners`. If a
    /// partition must leave a node, it is one of these.
    pub releasing: Vec<bool>,
    /// What limits voluntary moves.
    pub limits: Limits,
}

/// A node that owns partitions, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationNode {
    /// Its name.
    pub id: NodeId,
    /// Its part of the load, beside the weights of the others.
    pub weight: u32,
    /// The most that its partitions may weigh.
    pub capacity: Option<u32>,
    /// Where it is. The partitions of a list are spread over zones.
    pub zone: Option<Arc<str>>,
    /// What task lists may require of it.
    pub labels: Arc<BTreeMap<String, String>>,
    /// What may be done with its partitions.
    pub state: NodeState,
}

/// What may be done with the partitions of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// It keeps partitions and gets more.
    #[default]
    Active,
    /// It gives all of them away.
    Draining,
    /// It is absent and may come back soon: it keeps what it has and gets nothing.
    Away,
}

/// What limits voluntary moves: those of partitions that could stay where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most voluntary moves under way at a time, counting partitions that are being released.
    pub moves_max: Option<u32>,
    /// Nothing moves voluntarily while all nodes differ from their shares by at most this part of
    /// them. Once one differs by more, the load is evened out as if there were no tolerance.
    pub tolerance_percent: u32,
}

/// Why a problem cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidProblem {
    /// The lists cannot be used.
    #[error(transparent)]
    Lists(#[from] InvalidTaskList),
    /// Ids are not in order.
    #[error("{what} {earlier} stands before {later}: give them in order, each once")]
    OutOfOrder {
        /// Of what.
        what: &'static str,
        /// The one that stands first.
        earlier: String,
        /// The one that stands after it.
        later: String,
    },
    /// The weight of a node is too small or too large.
    #[error("node {node}: weight is {given}; it must be 1 to {WEIGHT_MAX}")]
    Weight {
        /// The node.
        node: NodeId,
        /// Its weight.
        given: u32,
    },
    /// There is not one entry for each partition.
    #[error("{field} has {given} entries; the lists have {partitions} partitions")]
    Length {
        /// Which field.
        field: &'static str,
        /// How many entries it has.
        given: usize,
        /// How many partitions there are.
        partitions: usize,
    },
    /// An owner is none of the nodes.
    #[error("the owner of {partition} is node {given}, counted from 0; there are {nodes} nodes")]
    Owner {
        /// Whose owner.
        partition: Partition,
        /// The index.
        given: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The tolerance is too large.
    #[error("tolerance is {given} %; it must be 0 to {TOLERANCE_MAX} %")]
    Tolerance {
        /// What was given.
        given: u32,
    },
}

impl AllocationNode {
    /// An active node of weight 1, without capacity, zone or labels.
    pub fn new(id: NodeId) -> Self {
        let (capacity, zone, labels, state) = (None, None, Arc::default(), NodeState::Active);
        Self { id, weight: 1, capacity, zone, labels, state }
    }

    /// Does it have all these labels?
    pub(super) fn has(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }
}

impl Problem {
    /// No partition has an owner yet, and nothing limits moves.
    pub fn new(lists: Vec<TaskList>, nodes: Vec<AllocationNode>) -> Self {
        let count = lists.iter().map(|list| list.partitions as usize).sum();
        let (owners, releasing) = (vec![None; count], vec![false; count]);
        Self { lists, nodes, owners, releasing, limits: Limits::default() }
    }

    /// The partition that an index of `owners` stands for.
    pub fn partition(&self, index: usize) -> Option<Partition> {
        let mut first = 0;
        for list in &self.lists {
            let after = first + list.partitions as usize;
            if index < after {
                let number = u32::try_from(index - first).ok()?;
                return Some(Partition { list: list.id.clone(), number });
            }
            first = after;
        }
        None
    }

    /// Can it be used?
    pub fn check(&self) -> Result<(), InvalidProblem> {
        in_order("task list", self.lists.iter().map(|list| list.id.as_str()))?;
        in_order("node", self.nodes.iter().map(|node| node.id.as_str()))?;
        TaskList::check_all(&self.lists)?;
        let unfit = |node: &&AllocationNode| !(1..=WEIGHT_MAX).contains(&node.weight);
        if let Some(node) = self.nodes.iter().find(unfit) {
            return Err(InvalidProblem::Weight { node: node.id.clone(), given: node.weight });
        }
        let partitions = self.partitions();
        for (field, given) in [("owners", self.owners.len()), ("releasing", self.releasing.len())] {
            if given != partitions {
                return Err(InvalidProblem::Length { field, given, partitions });
            }
        }
        if let Some((index, given)) = self.unknown_owner()
            && let Some(partition) = self.partition(index)
        {
            let nodes = self.nodes.len();
            return Err(InvalidProblem::Owner { partition, given, nodes });
        }
        match self.limits.tolerance_percent {
            given if given > TOLERANCE_MAX => Err(InvalidProblem::Tolerance { given }),
            _ => Ok(()),
        }
    }

    pub(super) fn assert_complete(&self) {
        let partitions = self.partitions();
        assert_eq!(self.owners.len(), partitions, "owners has an entry for each partition");
        assert_eq!(self.releasing.len(), partitions, "releasing has an entry for each partition");
        assert_eq!(self.unknown_owner(), None, "an owner is one of the nodes");
    }

    fn partitions(&self) -> usize {
        self.lists.iter().map(|list| list.partitions as usize).sum()
    }

    fn unknown_owner(&self) -> Option<(usize, u32)> {
        let owners = self.owners.iter().enumerate();
        let mut owners = owners.filter_map(|(index, owner)| Some((index, (*owner)?)));
        owners.find(|(_, owner)| *owner as usize >= self.nodes.len())
    }
}

fn in_order<'a>(
    what: &'static str,
    ids: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), InvalidProblem> {
    // Two lists of one id have an error of their own.
    let wrong = |(earlier, later): &(&str, &str)| match what {
        "node" => earlier >= later,
        _ => earlier > later,
    };
    match ids.clone().zip(ids.skip(1)).find(wrong) {
        None => Ok(()),
        Some((earlier, later)) => Err(InvalidProblem::OutOfOrder {
            what,
            earlier: earlier.to_owned(),
            later: later.to_owned(),
        }),
    }
}

/// A problem, and what is looked up in it often.
pub(super) struct Context<'a> {
    pub(super) problem: &'a Problem,
    /// The first partition of each list, and the number of all partitions.
    starts: Vec<usize>,
    /// The list of each partition.
    list_of: Vec<u32>,
    list_weights: Vec<i64>,
    list_hashes: Vec<u64>,
    pub(super) node_hashes: Vec<u64>,
}

impl<'a> Context<'a> {
    pub(super) fn of(problem: &'a Problem) -> Self {
        let (mut starts, mut list_of) = (vec![0], Vec::with_capacity(problem.owners.len()));
        for (list, at) in problem.lists.iter().zip(0..) {
            list_of.resize(list_of.len() + list.partitions as usize, at);
            starts.push(list_of.len());
        }
        let hash_of = |id: &str| hash::mix(hash::text(id));
        let lists = problem.lists.iter();
        Self {
            problem,
            starts,
            list_of,
            list_weights: lists.clone().map(|list| within_limits(list.weight)).collect(),
            list_hashes: lists.map(|list| hash_of(list.id.as_str())).collect(),
            node_hashes: problem.nodes.iter().map(|node| hash_of(node.id.as_str())).collect(),
        }
    }

    /// The partitions of a list.
    pub(super) fn partitions(&self, list: u32) -> Range<usize> {
        self.starts[list as usize]..self.starts[list as usize + 1]
    }

    pub(super) fn list_of(&self, partition: u32) -> u32 {
        self.list_of[partition as usize]
    }

    /// The weight of a partition.
    pub(super) fn weight_of(&self, partition: u32) -> i64 {
        self.list_weight(self.list_of(partition))
    }

    /// The weight of a partition of a list.
    pub(super) fn list_weight(&self, list: u32) -> i64 {
        self.list_weights[list as usize]
    }

    pub(super) fn list_hash(&self, list: u32) -> u64 {
        self.list_hashes[list as usize]
    }

    pub(super) fn is_paused(&self, list: u32) -> bool {
        self.problem.lists[list as usize].status == TaskListStatus::Paused
    }

    pub(super) fn node(&self, node: u32) -> &'a AllocationNode {
        &self.problem.nodes[node as usize]
    }

    pub(super) fn node_weight(&self, node: u32) -> i64 {
        within_limits(self.node(node).weight)
    }

    pub(super) fn has_active_node(&self) -> bool {
        self.problem.nodes.iter().any(|node| node.state == NodeState::Active)
    }

    pub(super) fn state(&self, node: u32) -> NodeState {
        self.node(node).state
    }
}

fn within_limits(weight: u32) -> i64 {
    i64::from(weight.clamp(1, WEIGHT_MAX))
}
