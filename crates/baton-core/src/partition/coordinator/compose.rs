//! Documents, put together from what stands in them and what is to change.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Changes;
use super::table::{Entry, Standing};
use super::{Coordinator, DocumentWrite};
use crate::partition::assignment::{Assignment, Grant, PartitionSet, Token};
use crate::partition::task_list::{Partition, TaskListId};
use crate::planted::planted;

/// What one token stands for in one document.
#[derive(Default)]
struct Given {
    hold: Vec<Partition>,
    release: Vec<Partition>,
}

impl Coordinator {
    /// The documents with these changes. What is free has no place in them any more.
    pub(super) fn compose(&mut self, changes: BTreeMap<u32, Changes>) -> Vec<DocumentWrite> {
        let given: BTreeSet<&Partition> = changes.values().flat_map(|it| &it.given).collect();
        if !given.is_empty() {
            self.last_token = self.last_token.next();
        }
        let token = self.last_token;
        let mut documents: BTreeMap<u32, BTreeMap<Token, Given>> = BTreeMap::new();
        for (list, number, entry) in self.table.iter() {
            let Some(change) = changes.get(&entry.slot) else { continue };
            let partition = Partition { list: list.clone(), number };
            if given.contains(&partition) || !self.must_stand((list, number), entry) {
                continue;
            }
            let is_over = self.members.is_over(&self.slots[entry.slot]);
            if planted!(MoveInMemory) && change.requested.contains(&partition) {
                continue;
            }
            let holds = entry.standing == Standing::Hold && !is_over;
            let grants = documents.entry(entry.slot).or_default();
            let grant = grants.entry(entry.token).or_default();
            match holds && !change.requested.contains(&partition) {
                true => grant.hold.push(partition),
                false => grant.release.push(partition),
            }
        }
        for (slot, change) in &changes {
            for partition in &change.given {
                let kept = self.token_before(*slot, partition);
                let token = kept.filter(|_| planted!(CancelKeepsToken)).unwrap_or(token);
                let grants = documents.entry(*slot).or_default();
                grants.entry(token).or_default().hold.push(partition.clone());
            }
        }
        let written = changes.into_iter().map(|(slot, change)| {
            let grants = documents.remove(&slot).unwrap_or_default();
            self.document(slot, &change, grants)
        });
        written.flatten().collect()
    }

    /// The token with which a partition stood in this document, whose session goes on.
    fn token_before(&self, slot: u32, partition: &Partition) -> Option<Token> {
        let entries = self.table.list(&partition.list);
        let entry = entries.get(partition.number as usize)?.filter(|entry| entry.slot == slot)?;
        (!self.members.is_over(&self.slots[slot])).then_some(entry.token)
    }

    /// Does the partition stay in the document of this entry? Not once it is free.
    pub(super) fn must_stand(&self, (list, number): (&TaskListId, u32), entry: &Entry) -> bool {
        !self.is_released(entry) || self.members.is_stopping(list, number)
    }

    fn document(
        &self,
        slot: u32,
        change: &Changes,
        grants: BTreeMap<Token, Given>,
    ) -> Option<DocumentWrite> {
        let owner = change.owner?;
        let set = |partitions: Vec<Partition>| partitions.into_iter().collect::<PartitionSet>();
        let grants = grants.into_iter().map(|(token, Given { hold, release })| Grant {
            token,
            hold: set(hold),
            release: set(release),
        });
        let content = Assignment {
            node: self.members.get(owner.boot)?.node.clone(),
            boot: owner.boot,
            session: owner.session,
            lineage: self.term.lineage,
            highest: self.last_token,
            grants: grants.collect(),
        };
        let over = self.slots.get(slot).map_or(0, |known| known.version);
        Some(DocumentWrite { slot, over, content })
    }
}
