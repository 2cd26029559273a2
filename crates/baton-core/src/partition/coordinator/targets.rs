//! Who should own each partition, as the allocator says.

use std::collections::BTreeMap;

use super::Coordinator;
use super::slots::Slot;
use super::table::{Entry, Standing};
use crate::ids::{BootId, NodeId};
use crate::partition::allocation::{AllocationNode, NodeState, Problem};
use crate::partition::task_list::TaskListId;
use crate::partition::wanted::{CurrentOwner, Wanted};
use crate::planted::planted;
use crate::time::Moment;

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
    pub(super) fn targets(&self, now: Moment, wanted: &Wanted) -> Targets {
        let (nodes, destinations, due) = self.nodes(now);
        let problem = wanted.problem(nodes, self.settings.limits, |list| self.owners(list));
        let mut owners = (self.allocate)(&problem);
        if planted!(QuotaPerList) {
            owners.clear();
            for list in &problem.lists {
                let its = owners.len()..owners.len() + list.partitions as usize;
                let alone = Problem {
                    lists: vec![list.clone()],
                    owners: problem.owners[its.clone()].to_vec(),
                    releasing: problem.releasing[its].to_vec(),
                    ..problem.clone()
                };
                owners.extend((self.allocate)(&alone));
            }
        }
        wanted.grant_moves(&problem, &mut owners);
        if planted!(PartitionsWander) && !owners.is_empty() {
            let writes: u64 = self.slots.iter().map(|(_, slot)| slot.version).sum();
            let by = usize::try_from(writes).unwrap_or(0) % owners.len();
            owners.rotate_right(by);
        }
        Targets { problem, destinations, owners, due }
    }

    /// Which nodes may run the partitions of a list.
    fn owners<'a>(&'a self, list: &TaskListId) -> impl Iterator<Item = CurrentOwner<'a>> + use<'a> {
        let entries = (0..).zip(self.table.list(list));
        entries.filter_map(|(number, entry)| {
            let entry = entry.as_ref()?;
            let slot = &self.slots[entry.slot];
            let is_releasing = entry.standing != Standing::Hold && !self.members.is_over(slot);
            let is_its_own = !self.is_acknowledged(entry, slot);
            is_its_own.then_some(CurrentOwner { number, node: &slot.node, is_releasing })
        })
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
                let node =
                    AllocationNode::of_profile(process.node.clone(), &process.profile, state);
                nodes.insert(&process.node, (node, Some(Destination { boot, session })));
                continue;
            }
            let until = process.left_at.map(|left| left + self.settings.restart_delay);
            let Some(until) = until.filter(|until| now < *until && given.is_some()) else {
                continue;
            };
            let away =
                AllocationNode::of_profile(process.node.clone(), &process.profile, NodeState::Away);
            nodes.entry(&process.node).or_insert((away, None));
            due = Some(due.map_or(until, |due| due.min(until)));
        }
        let (nodes, destinations) = nodes.into_values().unzip();
        (nodes, destinations, due)
    }
}
