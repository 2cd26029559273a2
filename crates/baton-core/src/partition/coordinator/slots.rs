//! The documents, as they were last read or written.

use std::collections::BTreeMap;
use std::ops::Index;

use super::{Coordinator, DocumentWrite};
use crate::ids::{BootId, Lineage, NodeId};
use crate::partition::assignment::Assignment;
use crate::planted::planted;
use crate::time::Moment;

/// One document. It belongs to one session of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) version: u64,
    pub(super) node: NodeId,
    pub(super) boot: BootId,
    pub(super) session: u64,
    pub(super) lineage: Lineage,
}

impl Slot {
    fn of(version: u64, content: &Assignment) -> Self {
        Self {
            version,
            node: content.node.clone(),
            boot: content.boot,
            session: content.session,
            lineage: content.lineage,
        }
    }

    fn is_same_session(&self, other: &Self) -> bool {
        (self.boot, self.session, self.lineage) == (other.boot, other.session, other.lineage)
    }
}

/// The documents, by slot. There are gaps only where the store's data went back.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    /// The newest slot of each process.
    by_boot: BTreeMap<BootId, u32>,
}

impl Slots {
    pub(super) fn get(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// Every document.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Slot)> {
        (0..).zip(&self.slots).filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// The slot of a process, if it has one.
    pub(super) fn of(&self, boot: BootId) -> Option<u32> {
        self.by_boot.get(&boot).copied()
    }

    /// How many slots there are, gaps included.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    fn set(&mut self, number: u32, slot: Slot) {
        let at = number as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        self.slots[at] = Some(slot);
    }

    fn index_processes(&mut self) {
        let mut by_boot: BTreeMap<BootId, u32> = BTreeMap::new();
        for (number, slot) in self.iter() {
            let known = by_boot.entry(slot.boot).or_insert(number);
            if (self[*known].lineage, self[*known].session) < (slot.lineage, slot.session) {
                *known = number;
            }
        }
        self.by_boot = by_boot;
    }
}

/// The slot of an entry of the table, which stands in a document.
impl Index<u32> for Slots {
    type Output = Slot;

    fn index(&self, slot: u32) -> &Slot {
        self.get(slot).expect("an entry stands in a document that was read or written")
    }
}

impl Coordinator {
    /// These documents are what stands there now.
    pub(super) fn take_documents(&mut self, now: Moment, documents: &[(u64, &DocumentWrite)]) {
        let mut contents = Vec::new();
        for (version, DocumentWrite { slot, content, .. }) in documents {
            self.count_on(content);
            let new = Slot::of(*version, content);
            let known = self.slots.get(*slot);
            let goes_on = known.is_some_and(|known| known.is_same_session(&new));
            contents.push((*slot, *version, goes_on, content));
            self.slots.set(*slot, new);
        }
        self.slots.index_processes();
        self.table.take(now, &contents);
        self.members.know_holders(now, &self.slots);
        self.is_stale = true;
    }

    /// The next token is higher than all that were given before this document was written, and than
    /// those after it in a line of history that is lost.
    fn count_on(&mut self, content: &Assignment) {
        let given_in = match planted!(TokensDoNotLeap) {
            true => self.term.lineage,
            false => content.lineage,
        };
        if !planted!(TokensBeginAnew) {
            let highest = content.highest.leap(given_in, self.term.lineage);
            self.last_token = self.last_token.max(highest);
        }
    }
}
