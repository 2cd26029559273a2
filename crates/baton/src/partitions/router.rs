//! Who owns which partition, for any process: it need not be a node, nor own anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Namespace, NodeId};
use baton_core::partition::{Assignment, AssignmentVersion, Partition, TaskListId, Token};
use baton_core::protocol::View;
use baton_store::{DOCUMENTS_MAX, Store};
use tokio::sync::{Mutex, watch};

use super::documents::{Documents, PartitionsError};

/// The owner of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionOwnership {
    /// The node.
    pub node: NodeId,
    /// Its process.
    pub boot: BootId,
    /// Rises with every owner.
    pub token: Token,
    /// Is it asked to stop, so that another node can own the partition?
    pub is_releasing: bool,
}

/// Who owns which partition, as the store said when it was last asked. A partition that is not in
/// it has no owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionMap {
    owners: BTreeMap<Partition, PartitionOwnership>,
}

impl PartitionMap {
    /// The owner of a partition.
    pub fn owner(&self, partition: &Partition) -> Option<&PartitionOwnership> {
        self.owners.get(partition)
    }

    /// All partitions that have an owner, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Partition, &PartitionOwnership)> {
        self.owners.iter()
    }

    /// The partitions of a list that have an owner, by number.
    pub(super) fn of_list<'a>(
        &'a self,
        list: &TaskListId,
    ) -> impl Iterator<Item = (u32, &'a PartitionOwnership)> + use<'a> {
        let partition = |number| Partition { list: list.clone(), number };
        let range = self.owners.range(partition(0)..=partition(u32::MAX));
        range.map(|(partition, owner)| (partition.number, owner))
    }

    /// Of documents: in several of them, the highest token counts.
    pub(super) fn of<'a>(documents: impl Iterator<Item = &'a Assignment>) -> Self {
        let mut map = Self::default();
        for document in documents {
            let held = document.held().map(|it| (it, false));
            let released = document.released().map(|it| (it, true));
            for ((partition, token), is_releasing) in held.chain(released) {
                let known = map.owners.get(&partition).map(|known| known.token);
                if known.is_none_or(|known| known < token) {
                    let (node, boot) = (document.node.clone(), document.boot);
                    let owner = PartitionOwnership { node, boot, token, is_releasing };
                    map.owners.insert(partition, owner);
                }
            }
        }
        map
    }
}

/// Keeps a [`PartitionMap`] up to date, with as few requests as it takes.
#[derive(Debug)]
pub struct PartitionRouter {
    documents: Documents,
    known: Mutex<BTreeMap<AssignmentVersion, Assignment>>,
    map: watch::Sender<Arc<PartitionMap>>,
}

impl PartitionRouter {
    /// The partitions of a namespace in this store. A request may take as long as given.
    pub fn new(store: Arc<dyn Store>, namespace: Namespace, timeout: Duration) -> Self {
        Self::of(Documents { store, namespace, timeout })
    }

    pub(super) fn of(documents: Documents) -> Self {
        Self { documents, known: Mutex::default(), map: watch::channel(Arc::default()).0 }
    }

    /// The map as it was last read.
    pub fn map(&self) -> Arc<PartitionMap> {
        self.map.borrow().clone()
    }

    /// The map, again whenever [`refresh`](Self::refresh) has found another.
    pub fn watch(&self) -> watch::Receiver<Arc<PartitionMap>> {
        self.map.subscribe()
    }

    /// The assignment documents as they were last read.
    pub(super) async fn documents(&self) -> Vec<(AssignmentVersion, Assignment)> {
        let known = self.known.lock().await;
        known.iter().map(|(version, document)| (*version, document.clone())).collect()
    }

    /// Asks the store for what has changed: one request, and another if documents have moved.
    pub async fn refresh(&self) -> Result<Arc<PartitionMap>, PartitionsError> {
        let mut known = self.known.lock().await;
        let view = self.documents.view().await?;
        let wanted = view.as_deref().map(versions).unwrap_or_default();
        let missing: Vec<u32> = wanted
            .iter()
            .filter(|version| !known.contains_key(version))
            .map(|version| version.slot)
            .collect();
        let mut read = Vec::with_capacity(missing.len());
        for slots in missing.chunks(DOCUMENTS_MAX) {
            let found = self.documents.read(slots).await?;
            read.extend(slots.iter().zip(found).filter_map(|(slot, found)| {
                let (version, content) = found?;
                Some((AssignmentVersion { slot: *slot, version }, content))
            }));
        }
        if !read.is_empty() || known.len() != wanted.len() {
            // A document may have moved on since the view was published.
            known.retain(|version, _| wanted.contains(version));
            known.extend(read);
            let map = Arc::new(PartitionMap::of(known.values()));
            self.map.send_if_modified(|shown| {
                let differs = *shown != map;
                *shown = map;
                differs
            });
        }
        Ok(self.map())
    }
}

/// The assignment documents that a view names.
fn versions(view: &View) -> Vec<AssignmentVersion> {
    view.members.iter().filter_map(|member| member.assignment).collect()
}
