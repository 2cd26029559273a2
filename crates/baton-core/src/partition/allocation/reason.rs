//! Why a partition is to have its owner: a byte for each, and a sentence when asked.

use std::fmt;

use super::problem::{AllocationNode, Problem};
use super::result::{Allocation, NodeLoad};

/// Why a partition stays, moves, or has no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reason {
    /// It stays: its owner is within the bound, or the tolerance.
    Stays,
    /// It stays: its owner is absent and may come back soon.
    Away,
    /// It stays for now: as many moves as are allowed are under way.
    Postponed,
    /// It gets an owner: it has none.
    Unowned,
    /// It leaves: its owner is draining.
    Draining,
    /// It leaves: its owner has more than its capacity.
    Capacity,
    /// It leaves: its owner lacks a label that its list requires.
    Labels,
    /// It moves: its owner has more of its share than another node.
    Balance,
    /// It has no owner: its list is paused.
    Paused,
    /// It has no owner: no node is active.
    NoNodes,
    /// It has no owner: no active node has the labels that its list requires.
    NoLabels,
    /// It has no owner: no node that may own it has room for it.
    NoRoom,
}

/// Why a partition is to have its owner, as a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'a> {
    pub(super) problem: &'a Problem,
    pub(super) allocation: &'a Allocation,
    pub(super) index: usize,
    /// The reason.
    pub reason: Reason,
}

/// A node and its load, in a sentence.
struct Shown<'a> {
    node: &'a AllocationNode,
    load: &'a NodeLoad,
}

impl<'a> Explanation<'a> {
    fn shown(&self, owner: Option<u32>) -> Option<Shown<'a>> {
        let at = owner? as usize;
        let (node, load) = (self.problem.nodes.get(at)?, self.allocation.nodes.get(at)?);
        Some(Shown { node, load })
    }

    /// The labels that the list of the partition requires, and its weight.
    fn required(&self) -> (String, u32) {
        let list = self.problem.lists.iter().scan(0, |first, list| {
            *first += list.partitions as usize;
            Some((*first, list))
        });
        let Some((_, list)) = { list }.find(|(after, _)| self.index < *after) else {
            return (String::new(), 0);
        };
        let labels: Vec<String> =
            list.requires.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (labels.join(", "), list.weight)
    }

    fn stays(&self, f: &mut fmt::Formatter<'_>, on: &Shown<'_>) -> fmt::Result {
        let Shown { node: AllocationNode { id, .. }, load } = on;
        let NodeLoad { load, share, is_tolerated, .. } = load;
        let limits = self.problem.limits;
        match self.reason {
            Reason::Away => write!(f, "stays on {id}: it is away and may come back"),
            Reason::Postponed => {
                let most = limits.moves_max.unwrap_or(0);
                write!(f, "stays on {id} for now: the limit of {most} moves at a time is reached")
            }
            _ if *is_tolerated => {
                let tolerance = limits.tolerance_percent;
                write!(
                    f,
                    "stays on {id}: {load} differs by less than {tolerance} % from its share"
                )?;
                write!(f, " of {share}")
            }
            _ => write!(f, "stays on {id}: it has {load} of a share of {share}"),
        }
    }

    fn moves(&self, f: &mut fmt::Formatter<'_>, from: &Shown<'_>, to: &Shown<'_>) -> fmt::Result {
        write!(f, "moves from {} to {}: ", from.node.id, to.node.id)?;
        match self.reason {
            Reason::Balance => {
                let (giver, taker) = (from.load, to.load);
                write!(f, "{} has {} of a share of {}, ", from.node.id, giver.before, giver.share)?;
                write!(f, "{} has {} of {}", to.node.id, taker.before, taker.share)
            }
            _ => self.leaves(f, from),
        }
    }

    /// Why it must leave.
    fn leaves(&self, f: &mut fmt::Formatter<'_>, from: &Shown<'_>) -> fmt::Result {
        let Shown { node: AllocationNode { id, capacity, .. }, load } = from;
        match self.reason {
            Reason::Draining => write!(f, "{id} is draining"),
            Reason::Capacity => {
                write!(f, "{id} has {}, its capacity is {}", load.before, capacity.unwrap_or(0))
            }
            _ => write!(f, "{id} lacks a label of {}", self.required().0),
        }
    }

    fn has_none(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (labels, weight) = self.required();
        match self.reason {
            Reason::Paused => f.write_str("its task list is paused"),
            Reason::NoNodes => f.write_str("no node is active"),
            Reason::NoLabels => write!(f, "no active node has the labels {labels}"),
            _ if weight == 1 => f.write_str("all nodes are at their capacity"),
            _ => write!(f, "no node has room for its weight of {weight}"),
        }
    }
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = |owners: &[Option<u32>]| self.shown(owners.get(self.index).copied().flatten());
        let (from, to) = (owner(&self.problem.owners), owner(&self.allocation.owners));
        match (from, to) {
            (Some(from), Some(to)) if from.node.id == to.node.id => self.stays(f, &to),
            (Some(from), Some(to)) => self.moves(f, &from, &to),
            (None, Some(Shown { node, load })) => {
                let NodeLoad { load, share, .. } = load;
                let id = &node.id;
                write!(
                    f,
                    "goes to {id}, which then has {load} of a share of {share}: no node has it"
                )
            }
            (Some(from), None) => {
                write!(f, "leaves {} and has no owner: ", from.node.id)?;
                self.has_none(f)
            }
            (None, None) => {
                f.write_str("has no owner: ")?;
                self.has_none(f)
            }
        }
    }
}
