//! What the allocator says of the partitions as they stand, or as they would stand.

use std::collections::{BTreeMap, BTreeSet};

use baton::partitions::{Partition, PartitionStanding, TaskListStatus, Wanted};
use baton_core::ids::NodeId;
use baton_core::partition::NumberSet;
use baton_core::partition::allocation::{Allocation, AllocationNode, NodeState, Problem, allocate};
use serde::Serialize;

use crate::output::stdout;
use crate::output::style::Tone;
use crate::output::table::{Cell, Table};

/// The question, the answer, and who is to own what.
pub struct Outlook {
    wanted: Wanted,
    problem: Problem,
    allocation: Allocation,
    /// As the allocator says, but for what people have moved and what a draining node keeps.
    owners: Vec<Option<u32>>,
    /// Nodes that are supposed to be gone.
    removed: BTreeSet<NodeId>,
}

/// A node, for programs.
#[derive(Serialize)]
struct NodeReport {
    node: NodeId,
    state: &'static str,
    /// The weight of what it has, and of what it is to have.
    load: u64,
    load_then: u64,
    /// What would be even, as text, to a tenth.
    share: String,
    capacity: Option<u32>,
    gets: usize,
    gives: usize,
}

/// A partition whose owner is to change, for programs.
#[derive(Serialize)]
struct ChangeReport {
    partition: Partition,
    from: Option<NodeId>,
    to: Option<NodeId>,
    reason: String,
}

/// Everything, for programs.
#[derive(Serialize)]
pub struct OutlookReport {
    is_paused: bool,
    partitions: usize,
    /// How many change from one node to another.
    moves: usize,
    /// How many get an owner that have none.
    placed: usize,
    /// How many are to have no owner.
    unowned: usize,
    nodes: Vec<NodeReport>,
    changes: Vec<ChangeReport>,
}

impl Outlook {
    /// Asks the allocator.
    pub fn of(standing: &PartitionStanding, removed: BTreeSet<NodeId>) -> Self {
        let wanted = standing.lists.wanted();
        let problem = standing.problem(&wanted);
        let allocation = allocate(&problem);
        let mut owners = allocation.owners.clone();
        wanted.grant_moves(&problem, &mut owners);
        let mut outlook = Self { wanted, problem, allocation, owners, removed };
        outlook.keep_on_draining();
        outlook
    }

    /// A node that drains keeps what there is no other node for, as the coordinator has it.
    fn keep_on_draining(&mut self) {
        let Self { problem, removed, .. } = self;
        let mut index = 0;
        for list in &problem.lists {
            for _ in 0..list.partitions {
                let from = problem.owners[index].map(|at| &problem.nodes[at as usize]);
                let keeps = from.is_some_and(|node| {
                    node.state == NodeState::Draining && !removed.contains(&node.id)
                });
                if keeps && list.status == TaskListStatus::Active && self.owners[index].is_none() {
                    self.owners[index] = problem.owners[index];
                }
                index += 1;
            }
        }
    }

    fn node(&self, at: Option<u32>) -> Option<&NodeId> {
        at.map(|at| &self.problem.nodes[at as usize].id)
    }

    /// Why the partition of this index is where it is, moves, or has no owner. The sentence goes on
    /// from the name of the partition.
    fn reason(&self, index: usize, partition: &Partition) -> String {
        let (from, to) = (self.problem.owners[index], self.owners[index]);
        let (from, to) = (self.node(from), self.node(to));
        if self.wanted.kept_on(&self.problem, partition).is_some() {
            let by_hand = "it was moved there by hand";
            return match (from, to) {
                (Some(from), Some(to)) if from == to => format!("stays on {to}: {by_hand}"),
                (Some(from), Some(to)) => format!("moves from {from} to {to}: {by_hand}"),
                (_, to) => format!("goes to {}: {by_hand}", to.map_or("", NodeId::as_str)),
            };
        }
        match (from, to) {
            (Some(from), Some(to)) if from == to && self.allocation.owners[index].is_none() => {
                format!("stays on {from}, which is draining: no other node can take it")
            }
            (Some(from), Some(to)) if self.removed.contains(from) => {
                format!("moves from {from} to {to}: {from} is removed")
            }
            _ => {
                let explained = self.allocation.explain(&self.problem, index);
                explained.map(|it| it.to_string()).unwrap_or_default()
            }
        }
    }

    /// Why a partition is where it is, and its owners now and then. `None` if there is no such
    /// partition.
    pub fn explain(&self, partition: &Partition) -> Option<(String, [Option<NodeId>; 2])> {
        let (index, _) = self.problem.place(partition)?;
        let owners = [self.problem.owners[index], self.owners[index]];
        Some((self.reason(index, partition), owners.map(|at| self.node(at).cloned())))
    }

    /// For programs, and the base of what people read.
    pub fn report(&self) -> OutlookReport {
        let changed = self.problem.owners.iter().zip(&self.owners).enumerate();
        let changed = changed.filter(|(_, (from, to))| from != to);
        let changes = changed.filter_map(|(index, (from, to))| {
            let partition = self.problem.partition(index)?;
            let reason = self.reason(index, &partition);
            let (from, to) = (self.node(*from).cloned(), self.node(*to).cloned());
            Some(ChangeReport { partition, from, to, reason })
        });
        let changes: Vec<_> = changes.collect();
        let count =
            |is_it: fn(&ChangeReport) -> bool| changes.iter().filter(|it| is_it(it)).count();
        OutlookReport {
            is_paused: self.wanted.is_paused,
            partitions: self.owners.len(),
            moves: count(|it| it.from.is_some() && it.to.is_some()),
            placed: count(|it| it.from.is_none()),
            unowned: self.owners.iter().filter(|owner| owner.is_none()).count(),
            nodes: self.nodes(&changes),
            changes,
        }
    }

    fn nodes(&self, changes: &[ChangeReport]) -> Vec<NodeReport> {
        let loads = |owners: &[Option<u32>]| {
            let mut loads = vec![0; self.problem.nodes.len()];
            let mut first = 0;
            for list in &self.problem.lists {
                let after = first + list.partitions as usize;
                for owner in owners[first..after].iter().flatten() {
                    loads[*owner as usize] += u64::from(list.weight);
                }
                first = after;
            }
            loads
        };
        let (now, then) = (loads(&self.problem.owners), loads(&self.owners));
        let report = |(at, node): (usize, &AllocationNode)| {
            let is = |it: &Option<NodeId>| it.as_ref() == Some(&node.id);
            NodeReport {
                state: match node.state {
                    _ if self.removed.contains(&node.id) => "removed",
                    NodeState::Active => "active",
                    NodeState::Draining => "draining",
                    NodeState::Away => "away",
                },
                node: node.id.clone(),
                load: now[at],
                load_then: then[at],
                share: self.allocation.nodes[at].share.to_string(),
                capacity: node.capacity,
                gets: changes.iter().filter(|it| is(&it.to)).count(),
                gives: changes.iter().filter(|it| is(&it.from)).count(),
            }
        };
        self.problem.nodes.iter().enumerate().map(report).collect()
    }
}

impl OutlookReport {
    /// A line for each node: what it has, and what it is to have.
    pub fn nodes_table(&self) -> String {
        let mut table = Table::new(&[
            "NODE",
            "STATE",
            ">LOAD",
            ">THEN",
            ">SHARE",
            ">CAPACITY",
            ">GETS",
            ">GIVES",
        ]);
        for it in &self.nodes {
            let tone = if it.state == "active" { Tone::Plain } else { Tone::Warn };
            table.row([
                it.node.to_string().into(),
                Cell::new(it.state, tone),
                it.load.to_string().into(),
                it.load_then.to_string().into(),
                it.share.clone().into(),
                it.capacity.map_or("-".to_owned(), |most| most.to_string()).into(),
                it.gets.to_string().into(),
                it.gives.to_string().into(),
            ]);
        }
        table.render(stdout::width())
    }

    /// A sentence with the counts: how many move, stay, get an owner, and have none, each with the
    /// words for it.
    pub fn counts(&self, verbs: [&str; 4]) -> String {
        let Self { partitions, moves, placed, unowned, .. } = self;
        let lost = self.changes.iter().filter(|it| it.to.is_none()).count();
        let stay = partitions - moves - placed - lost - (unowned - lost);
        let [move_, stay_, place, none] = verbs;
        let mut parts = vec![format!("{moves} {move_}"), format!("{stay} {stay_}")];
        if *placed > 0 {
            parts.push(format!("{placed} {place}"));
        }
        parts.push(format!("{unowned} {none}"));
        format!("{partitions} partitions: {}\n", parts.join(", "))
    }

    /// The changes from each node to each other one, with their numbers.
    pub fn changes_table(&self) -> String {
        let mut sets: BTreeMap<_, NumberSet> = BTreeMap::new();
        for it in &self.changes {
            let key = (&it.from, &it.to, &it.partition.list);
            sets.entry(key).or_default().insert(it.partition.number);
        }
        if sets.is_empty() {
            return String::new();
        }
        let mut table = Table::new(&["FROM", "TO", ">COUNT", "TASK LIST", "PARTITIONS"]);
        let mut has_steps = false;
        for ((from, to, list), numbers) in sets {
            let name = |node: &Option<NodeId>| match node {
                Some(node) => node.to_string().into(),
                None => Cell::new("no owner", Tone::Warn),
            };
            let (count, numbers) = (numbers.len().to_string(), numbers.to_string());
            has_steps |= numbers.contains('/');
            table.row([
                name(from),
                name(to),
                count.into(),
                list.to_string().into(),
                numbers.into(),
            ]);
        }
        let steps = match has_steps {
            true => "\nA-B/N: every Nth number from A to B\n",
            false => "",
        };
        format!("\n{}{steps}", table.render(stdout::width()))
    }

    /// The first changes with their reasons.
    pub fn reasons(&self, most: usize) -> String {
        let mut text = String::new();
        for it in self.changes.iter().take(most) {
            text += &format!("{} {}\n", it.partition, it.reason);
        }
        match self.changes.len().saturating_sub(most) {
            0 => text,
            more => text + &format!("{more} more change; --json has all of them\n"),
        }
    }

    /// Does any node take partitions?
    pub fn has_nodes(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// A line that says that moves are paused, if they are.
    pub fn pause(&self) -> &'static str {
        match self.is_paused {
            true => "moves are paused: baton partitions resume lets them go on\n",
            false => "",
        }
    }
}
