//! The documents, as they were last read or written.

use super::{Coordinator, DocumentWrite};
use crate::ids::{BootId, Lineage, NodeId};
use crate::partition::assignment::Assignment;
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
    pub(super) fn of(version: u64, content: &Assignment) -> Self {
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

impl Coordinator {
    /// These documents are what stands there now.
    pub(super) fn take_documents(&mut self, now: Moment, documents: &[(u64, &DocumentWrite)]) {
        let known: Vec<Option<Slot>> =
            documents.iter().map(|(_, it)| self.slots.get(it.slot as usize).cloned()).collect();
        for (version, DocumentWrite { slot, content, .. }) in documents {
            let new = Slot::of(*version, content);
            match self.slots.get_mut(*slot as usize) {
                Some(old) => *old = new,
                None => self.slots.push(new),
            }
        }
        let goes_on = |at: usize, slot: u32| {
            let new = &self.slots[slot as usize];
            known[at].as_ref().is_some_and(|old| old.is_same_session(new))
        };
        let contents = documents
            .iter()
            .enumerate()
            .map(|(at, (version, it))| (it.slot, *version, goes_on(at, it.slot), &it.content));
        self.table.take(now, &contents.collect::<Vec<_>>());
        self.members.know_holders(now, &self.slots);
        self.is_stale = true;
    }

    /// The slot of a process, if it has one.
    pub(super) fn slot_of(&self, boot: BootId) -> Option<u32> {
        let mine = |slot: &&Slot| slot.boot == boot;
        let newest = self.slots.iter().filter(mine).map(|slot| slot.session).max()?;
        let at = self.slots.iter().position(|it| it.boot == boot && it.session == newest)?;
        u32::try_from(at).ok()
    }
}
