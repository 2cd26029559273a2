//! Who should own each partition, as the allocator says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Coordinator;
use super::slots::Slot;
use super::table::{Entry, Standing};
use crate::ids::{BootId, NodeId};
use crate::partition::allocation::{AllocationNode, NodeState, Problem};
use crate::partition::task_list::{TaskList, TaskListStatus};
use crate::planted::planted;
use crate::protocol::NodeProfile;
use crate::time::Moment;

/// The labels that say what a node can take.
const ZONE: &str = "zone";
const WEIGHT: &str = "weight";
const CAPACITY: &str = "capacity";

/// A node that may be given partitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub(super) boot: BootId,
    pub(super) session: u64,
}

/// What the allocator was asked, and what it answered.
pub(super) struct Targets {
    pub(super) problem: Problem,
    /// The processes of the nodes; `None` for one that is away.
    pub(super) destinations: Vec<Option<Destination>>,
    pub(super) owners: Vec<Option<u32>>,
    /// When a node that is away is waited for no longer.
    pub(super) due: Option<Moment>,
}

impl Targets {
    /// What is to become of a partition of a list, by its index.
    pub(super) fn destination(&self, index: usize) -> Option<Destination> {
        self.destinations[self.owners.get(index).copied().flatten()? as usize]
    }

    /// Does the allocator leave this partition to a node that is away?
    pub(super) fn is_kept(&self, index: usize) -> bool {
        let owner = self.owners.get(index).copied().flatten();
        owner.is_some_and(|owner| self.destinations[owner as usize].is_none())
    }

    /// Is this node giving everything away?
    pub(super) fn is_draining(&self, node: &NodeId) -> bool {
        let at = self.problem.nodes.binary_search_by(|it| it.id.cmp(node));
        at.is_ok_and(|at| self.problem.nodes[at].state == NodeState::Draining)
    }
}

impl Coordinator {
    /// Is it certain that the process of this entry does not run the partition, by what it was
    /// given and by what it acknowledged? It may still be stopping it.
    pub(super) fn is_released(&self, entry: &Entry) -> bool {
        let slot = &self.slots[entry.slot];
        self.members.is_over(slot) || self.is_acknowledged(entry, slot)
    }

    fn is_acknowledged(&self, entry: &Entry, slot: &Slot) -> bool {
        let acknowledged = self.members.acknowledged(entry.slot, slot);
        match entry.standing {
            Standing::Hold => false,
            Standing::Release { version, .. } => acknowledged >= version,
        }
    }

    /// Asks the allocator.
    pub(super) fn targets(&self, now: Moment, lists: &[TaskList]) -> Targets {
        let (nodes, destinations, due) = self.nodes(now);
        let mut problem = Problem::new(lists.to_vec(), nodes);
        problem.limits = self.settings.limits;
        if self.is_frozen {
            problem.limits.moves_max = Some(0);
        }
        let at: BTreeMap<&NodeId, u32> =
            problem.nodes.iter().map(|node| &node.id).zip(0..).collect();
        let mut index = 0;
        for list in lists {
            let entries = self.table.list(&list.id).iter().take(list.partitions as usize);
            for (number, entry) in entries.enumerate() {
                let Some(entry) = entry else { continue };
                let slot = &self.slots[entry.slot];
                if self.is_acknowledged(entry, slot) {
                    continue;
                }
                problem.owners[index + number] = at.get(&slot.node).copied();
                problem.releasing[index + number] = problem.owners[index + number].is_some()
                    && entry.standing != Standing::Hold
                    && !self.members.is_over(slot);
            }
            index += list.partitions as usize;
        }
        let mut owners = (self.allocate)(&problem);
        self.grant_wishes(&problem, &mut owners);
        if planted!(PartitionsWander) && !owners.is_empty() {
            let by = usize::try_from(self.number).unwrap_or(0) % owners.len();
            owners.rotate_right(by);
        }
        Targets { problem, destinations, owners, due }
    }

    /// What a person has moved stays there, as long as the node takes partitions.
    fn grant_wishes(&self, problem: &Problem, owners: &mut [Option<u32>]) {
        for (partition, node) in &self.wishes {
            let is_there = |it: &AllocationNode| it.id == *node && it.state == NodeState::Active;
            let Some(node) = problem.nodes.iter().position(is_there) else { continue };
            let mut first = 0;
            for list in &problem.lists {
                let is_in = list.id == partition.list
                    && partition.number < list.partitions
                    && list.status == TaskListStatus::Active;
                if is_in {
                    owners[first + partition.number as usize] = u32::try_from(node).ok();
                }
                first += list.partitions as usize;
            }
        }
    }

    /// The nodes that take partitions, in order of id, and those that are away.
    fn nodes(
        &self,
        now: Moment,
    ) -> (Vec<AllocationNode>, Vec<Option<Destination>>, Option<Moment>) {
        let mut nodes: BTreeMap<&NodeId, (AllocationNode, Option<Destination>)> = BTreeMap::new();
        let mut due: Option<Moment> = None;
        for (boot, process) in self.members.iter() {
            let slot = self.slots.of(boot);
            let given = slot.map(|slot| &self.slots[slot]);
            if let Some(session) = self.members.open_session(boot, given) {
                let state = match process.is_draining {
                    true => NodeState::Draining,
                    false => NodeState::Active,
                };
                let node = allocation_node(process.node.clone(), &process.profile, state);
                nodes.insert(&process.node, (node, Some(Destination { boot, session })));
                continue;
            }
            let until = process.left_at.map(|left| left + self.settings.restart_delay);
            let Some(until) = until.filter(|until| now < *until && given.is_some()) else {
                continue;
            };
            let away = allocation_node(process.node.clone(), &process.profile, NodeState::Away);
            nodes.entry(&process.node).or_insert((away, None));
            due = Some(due.map_or(until, |due| due.min(until)));
        }
        let (nodes, destinations) = nodes.into_values().unzip();
        (nodes, destinations, due)
    }
}

/// A node as the allocator sees it. What a label does not say, or not in numbers, is as usual.
fn allocation_node(id: NodeId, profile: &Arc<NodeProfile>, state: NodeState) -> AllocationNode {
    let number = |label: &str| profile.labels.get(label).and_then(|text| text.parse().ok());
    AllocationNode {
        id,
        weight: number(WEIGHT).unwrap_or(1).max(1),
        capacity: number(CAPACITY),
        zone: profile.labels.get(ZONE).map(|zone| Arc::from(zone.as_str())),
        labels: Arc::new(profile.labels.clone()),
        state,
    }
}
