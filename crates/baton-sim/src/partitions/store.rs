//! The store: documents with versions and a fence, records of processes, a view; and an older copy.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId};
use baton_core::partition::coordinator::{BatchOutcome, DocumentWrite};
use baton_core::partition::{Assignment, AssignmentVersion};
use baton_core::planted::planted;
use baton_core::protocol::{NodeRecord, Registration, ViewVersion};

use crate::clock::TrueTime;

/// The versions of the assignment documents, as the leader published them.
pub type Assignments = Arc<BTreeMap<BootId, AssignmentVersion>>;

/// What is lost when the store's data goes back.
#[derive(Clone, Default)]
struct Data {
    documents: BTreeMap<u32, (u64, Assignment)>,
    records: BTreeMap<NodeId, (NodeRecord, TrueTime)>,
    view: Option<(ViewVersion, Assignments)>,
}

/// The store. Epochs are granted by the script of the world, not by a lease.
pub struct Store {
    data: Data,
    /// Older copies of the data, the oldest first.
    copies: VecDeque<Data>,
    /// The last versions that were written over, by slot, the oldest first.
    replaced: BTreeMap<u32, VecDeque<(u64, Assignment)>>,
    pub lineage: Lineage,
    /// The highest epoch that was granted.
    pub granted: Epoch,
    /// Does it not answer?
    pub is_away: bool,
}

const COPIES_KEPT: usize = 4;

impl Default for Store {
    fn default() -> Self {
        Self {
            data: Data::default(),
            copies: VecDeque::new(),
            replaced: BTreeMap::new(),
            lineage: Lineage(1),
            granted: Epoch::NONE,
            is_away: false,
        }
    }
}

impl Store {
    /// Reads documents.
    pub fn read(&self, slots: &[u32]) -> Vec<Option<(u64, Assignment)>> {
        slots.iter().map(|slot| self.data.documents.get(slot).cloned()).collect()
    }

    /// A document as a copy that lags behind shows it, by this many writes at most.
    pub fn read_stale(&self, slot: u32, behind: usize) -> Option<(u64, Assignment)> {
        let replaced = self.replaced.get(&slot).filter(|_| behind > 0)?;
        replaced.get(replaced.len().saturating_sub(behind)).cloned()
    }

    /// Writes all of these documents or none.
    pub fn write(&mut self, epoch: Epoch, writes: &[DocumentWrite]) -> BatchOutcome {
        if epoch < self.granted && !planted!(AssignmentWithoutFence) {
            return BatchOutcome::Fenced;
        }
        let version = |slot: u32| self.data.documents.get(&slot).map_or(0, |it| it.0);
        if writes.iter().any(|write| version(write.slot) != write.over) {
            return BatchOutcome::Conflict;
        }
        let mut versions = Vec::new();
        for DocumentWrite { slot, over, content } in writes {
            let new = (over + 1, content.clone());
            if let Some(old) = self.data.documents.insert(*slot, new) {
                let replaced = self.replaced.entry(*slot).or_default();
                if replaced.len() == COPIES_KEPT {
                    replaced.pop_front();
                }
                replaced.push_back(old);
            }
            versions.push(over + 1);
        }
        BatchOutcome::Written(versions)
    }

    /// A beat: the record is written, unless another process goes by the id.
    pub fn register(
        &mut self,
        now: TrueTime,
        record: &NodeRecord,
        replaces: Option<BootId>,
    ) -> Registration {
        match self.data.records.get(&record.id) {
            Some((known, _)) if known.boot != record.boot && Some(known.boot) != replaces => {
                Registration::TakenBy { boot: known.boot, beat: known.beat }
            }
            _ => {
                self.data.records.insert(record.id.clone(), (record.clone(), now));
                Registration::Registered
            }
        }
    }

    /// A process takes its record out.
    pub fn leave(&mut self, node: &NodeId, boot: BootId) {
        if self.data.records.get(node).is_some_and(|(known, _)| known.boot == boot) {
            self.data.records.remove(node);
        }
    }

    /// All records, each with when it was written.
    pub fn records(&self) -> impl Iterator<Item = (&NodeRecord, TrueTime)> {
        self.data.records.values().map(|(record, at)| (record, *at))
    }

    /// Publishes a view, under the epoch of its version.
    pub fn publish(&mut self, version: ViewVersion, assignments: Assignments) -> bool {
        let is_newer = self.data.view.as_ref().is_none_or(|(known, _)| *known < version);
        if version.epoch < self.granted || !is_newer {
            return false;
        }
        self.data.view = Some((version, assignments));
        true
    }

    /// The view.
    pub fn view(&self) -> Option<(ViewVersion, Assignments)> {
        self.data.view.clone()
    }

    /// Keeps a copy of the data.
    pub fn copy(&mut self) {
        if self.copies.len() == COPIES_KEPT {
            self.copies.pop_front();
        }
        self.copies.push_back(self.data.clone());
    }

    /// The data goes back to the oldest copy, if there is one, or all of it is gone.
    pub fn lose_data(&mut self, is_gone: bool) -> bool {
        let copy = if is_gone { Some(Data::default()) } else { self.copies.pop_front() };
        let Some(copy) = copy else { return false };
        self.data = copy;
        self.copies.clear();
        self.replaced.clear();
        self.lineage = Lineage(self.lineage.0 + 1);
        true
    }
}
