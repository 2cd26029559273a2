//! Every partition, and where it stands: in which document, with which token.

use std::collections::{BTreeMap, BTreeSet};

use crate::partition::assignment::{Assignment, Token};
use crate::partition::task_list::{Partition, TaskListId};
use crate::planted::planted;
use crate::time::Moment;

/// What a document says of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its process may run it.
    Hold,
    /// Its process is to stop it.
    Release {
        /// The version of the document that first said so, or a later one.
        version: u64,
        /// Since when this coordinator knows of it.
        since: Moment,
    },
}

/// Where a partition stands. Of several documents it is the one with the highest token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) slot: u32,
    pub(super) token: Token,
    pub(super) standing: Standing,
}

/// The partitions that stand in a document, those of lists that are gone included.
#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<TaskListId, Vec<Option<Entry>>>);

impl Table {
    /// The entries of a list, by number. There may be fewer than partitions, or more.
    pub(super) fn list(&self, list: &TaskListId) -> &[Option<Entry>] {
        self.0.get(list).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every entry.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&TaskListId, u32, &Entry)> {
        self.0.iter().flat_map(|(list, entries)| {
            let numbered = (0..).zip(entries);
            numbered.filter_map(move |(number, it)| Some((list, number, it.as_ref()?)))
        })
    }

    /// Takes in documents: the slot, the version, whether it is for the same session as before, and
    /// what it says. Nothing else of these slots is true any more.
    pub(super) fn take(&mut self, now: Moment, documents: &[(u32, u64, bool, &Assignment)]) {
        let mut releasing = self.clear(&documents.iter().map(|it| it.0).collect());
        for (slot, version, goes_on, content) in documents {
            let mut add = |(partition, token): (Partition, Token), is_held: bool| {
                let fresh = Standing::Release { version: *version, since: now };
                let asked = |entry: Entry| *goes_on && (entry.slot, entry.token) == (*slot, token);
                let standing = match is_held {
                    true => Standing::Hold,
                    false => {
                        let before = releasing.remove(&partition).filter(|it| asked(*it));
                        before.map_or(fresh, |before| before.standing)
                    }
                };
                self.insert(partition, Entry { slot: *slot, token, standing });
            };
            content.held().for_each(|it| add(it, true));
            content.released().for_each(|it| add(it, false));
        }
        self.0.retain(|_, entries| entries.iter().any(Option::is_some));
    }

    /// Takes out the entries of these slots, and returns those that are being released.
    fn clear(&mut self, slots: &BTreeSet<u32>) -> BTreeMap<Partition, Entry> {
        let mut releasing = BTreeMap::new();
        for (list, entries) in &mut self.0 {
            for (number, place) in (0..).zip(entries) {
                let Some(entry) = place.take_if(|it| slots.contains(&it.slot)) else { continue };
                if entry.standing != Standing::Hold {
                    releasing.insert(Partition { list: list.clone(), number }, entry);
                }
            }
        }
        releasing
    }

    fn insert(&mut self, partition: Partition, entry: Entry) {
        let entries = self.0.entry(partition.list).or_default();
        let at = partition.number as usize;
        if entries.len() <= at {
            entries.resize(at + 1, None);
        }
        let is_newer = |known: Entry| match planted!(OlderTokenCounts) {
            true => known.token > entry.token,
            false => known.token < entry.token,
        };
        if entries[at].is_none_or(is_newer) {
            entries[at] = Some(entry);
        }
    }
}
