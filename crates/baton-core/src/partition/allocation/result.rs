//! Who should own each partition, and the loads that come of it.

use std::fmt;

use super::problem::{Context, NodeState, Problem};
use super::reason::{Explanation, Reason};
use super::ring::Member;

/// Who should own each partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The owner of each partition, in the order of the problem's `owners`.
    pub owners: Vec<Option<u32>>,
    /// Why, for each partition.
    pub reasons: Vec<Reason>,
    /// The load of each node, in the order of the problem's nodes.
    pub nodes: Vec<NodeLoad>,
    /// How many voluntary moves are put off because of the limit.
    pub postponed: u32,
}

/// The load of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeLoad {
    /// The weight of what it has now.
    pub before: u64,
    /// The weight of what it should have.
    pub load: u64,
    /// What would be even.
    pub share: Share,
    /// Is the load beyond the bound, and left as it is because of the tolerance?
    pub is_tolerated: bool,
}

/// A part of the whole load: a fraction, shown to a tenth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many parts of one.
    pub units: u64,
    /// How many of them are one.
    pub scale: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self { units: 0, scale: 1 }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (units, scale) = (u128::from(self.units), u128::from(self.scale));
        let tenths = (units * 20 + scale) / (scale * 2);
        match (tenths / 10, tenths % 10) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, tenth) => write!(f, "{whole}.{tenth}"),
        }
    }
}

/// A partition whose owner is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which partition, as an index of the problem's `owners`.
    pub index: usize,
    /// Who has it.
    pub from: Option<u32>,
    /// Who should have it.
    pub to: Option<u32>,
}

impl Allocation {
    /// The partitions whose owners are to change.
    pub fn changes<'a>(&'a self, problem: &'a Problem) -> impl Iterator<Item = Change> + 'a {
        let owners = problem.owners.iter().zip(&self.owners).enumerate();
        owners.filter(|(_, (from, to))| from != to).map(|(index, (from, to))| Change {
            index,
            from: *from,
            to: *to,
        })
    }

    /// Why a partition is to have the owner that it is to have. `None` if there is no such
    /// partition.
    pub fn explain<'a>(&'a self, problem: &'a Problem, index: usize) -> Option<Explanation<'a>> {
        let reason = *self.reasons.get(index)?;
        Some(Explanation { problem, allocation: self, index, reason })
    }
}

/// A result on its way.
pub(super) struct Draft {
    pub(super) owners: Vec<Option<u32>>,
    pub(super) reasons: Vec<Reason>,
    /// The weight that each node has of the groups that were placed.
    pub(super) loads: Vec<i64>,
    nodes: Vec<NodeLoad>,
    /// How many more moves may begin; no limit if absent.
    new_moves: Option<u32>,
    postponed: u32,
}

impl Draft {
    /// Who has what now, less the partitions of paused lists.
    pub(super) fn of(context: &Context<'_>) -> Self {
        let problem = context.problem;
        let mut draft = Self {
            owners: problem.owners.clone(),
            reasons: vec![Reason::Stays; problem.owners.len()],
            loads: vec![0; problem.nodes.len()],
            nodes: vec![NodeLoad::default(); problem.nodes.len()],
            new_moves: None,
            postponed: 0,
        };
        let mut under_way = 0;
        for list in 0..problem.lists.len() as u32 {
            let (weight, is_paused) = (context.list_weight(list), context.is_paused(list));
            for partition in context.partitions(list) {
                if let Some(owner) = problem.owners[partition] {
                    draft.nodes[owner as usize].before += weight as u64;
                    let is_active = context.state(owner) == NodeState::Active;
                    under_way += u32::from(problem.releasing[partition] && is_active && !is_paused);
                }
                if is_paused {
                    (draft.owners[partition], draft.reasons[partition]) = (None, Reason::Paused);
                }
            }
        }
        let moves_max = problem.limits.moves_max;
        draft.new_moves = moves_max.map(|most| most.saturating_sub(under_way));
        draft
    }

    /// May one more move begin?
    pub(super) fn count_new_move(&mut self) -> bool {
        match &mut self.new_moves {
            None => true,
            Some(0) => {
                self.postponed += 1;
                false
            }
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Notes what a node has once a group is placed.
    pub(super) fn set_load(&mut self, member: &Member, scale: i64, is_tolerated: bool) {
        let node = member.node as usize;
        self.loads[node] = member.load;
        self.nodes[node].share = Share { units: member.share as u64, scale: scale as u64 };
        self.nodes[node].is_tolerated = is_tolerated;
    }

    pub(super) fn finish(self, context: &Context<'_>) -> Allocation {
        let mut nodes = self.nodes;
        for ((node, load), at) in nodes.iter_mut().zip(self.loads).zip(0..) {
            node.load = load as u64;
            if context.state(at) == NodeState::Away {
                node.share = Share { units: node.load, scale: 1 };
            }
        }
        let Self { owners, reasons, postponed, .. } = self;
        Allocation { owners, reasons, nodes, postponed }
    }
}
