//! What a handle remembers: enough to try a call without reading first. What is out of date is
//! noticed by the comparisons of the call itself.
//!
//! ```text
//!   a call's answer ── state ───►  Cache ── state ──► the next call
//!   a watch's event ── receive ──►   │
//!                                    └ one CachedNamespace each; all go if the data went back
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use baton_core::ids::{Namespace, NodeId};
use baton_core::protocol::NodeRecord;

use super::namespace_state::{KnownLeases, NamespaceState};
use super::records::{self, Record, Stored};
use super::schema::Keys;
use super::spare_lease::{FollowUp, SpareLease};
use super::wire::{Event, Header};
use crate::driver::Unchanged;

#[derive(Default)]
pub(super) struct CachedNamespace {
    /// The last read, without node and documents, and what a watch showed since.
    pub(super) state: Option<NamespaceState>,
    /// The highest revision that was heard of when it was made.
    at: i64,
    /// The records of the nodes that beat by this handle.
    pub(super) nodes: BTreeMap<NodeId, Option<Stored<NodeRecord>>>,
    pub(super) leases: KnownLeases,
    /// The revision of every node's record.
    pub(super) unwritten: Unchanged<NodeId, i64>,
    pub(super) spare: Option<SpareLease>,
    /// What the last beat left to be done.
    pub(super) follow_up: Option<FollowUp>,
}

#[derive(Default)]
pub(super) struct Cache(Mutex<CacheContents>);

#[derive(Default)]
struct CacheContents {
    namespaces: BTreeMap<Namespace, CachedNamespace>,
    /// Which cluster, and the highest revision of it that an answer came from.
    cluster: u64,
    revision: i64,
}

impl Cache {
    fn all(&self) -> MutexGuard<'_, CacheContents> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// Looks at what is remembered of a namespace, or changes it.
    pub(super) fn with<T>(
        &self,
        namespace: &Namespace,
        act: impl FnOnce(&mut CachedNamespace) -> T,
    ) -> T {
        act(self.all().namespaces.entry(namespace.clone()).or_default())
    }

    pub(super) fn keep_state(
        &self,
        namespace: &Namespace,
        node: Option<&NodeId>,
        state: &NamespaceState,
    ) {
        let at = self.revision();
        self.with(namespace, |cached| {
            if let Some(node) = node {
                cached.nodes.insert(node.clone(), state.node.clone());
            }
            cached.state =
                Some(NamespaceState { node: None, documents: Vec::new(), ..state.clone() });
            cached.at = at;
        });
    }

    /// Takes in what a watch shows of the lease, unless it was known before.
    pub(super) fn receive(&self, namespace: &Namespace, keys: &Keys, event: &Event) {
        self.with(namespace, |cached| {
            let Some(state) = &mut cached.state else { return };
            if event.kv.mod_revision <= cached.at {
                return;
            }
            if event.is_about(&keys.lease) {
                take_in(&mut state.lease, event);
            } else if event.is_about(&keys.holder) {
                take_in(&mut state.holder, event);
            } else if event.is_about(&keys.fence) {
                take_in(&mut state.fence, event);
            }
        });
    }

    pub(super) fn revision(&self) -> i64 {
        self.all().revision
    }

    /// An answer to a request that was sent when `before` was the highest revision. A lower one, or
    /// another cluster, means that the data went back: nothing remembered holds.
    pub(super) fn note(&self, header: &Header, before: i64) {
        let mut all = self.all();
        let (cluster, revision) = (header.cluster_id, header.revision);
        if all.cluster != cluster || revision < before {
            *all = CacheContents { cluster, revision, ..CacheContents::default() };
        }
        all.revision = all.revision.max(revision);
    }
}

/// What cannot be read stays as it was: the next call finds out.
fn take_in<T: Record>(slot: &mut Option<Stored<T>>, event: &Event) {
    let known = slot.as_ref().map_or(0, |stored| stored.revision);
    if event.kv.mod_revision <= known {
        return;
    }
    if event.is_delete() {
        *slot = None;
    } else if let Ok(stored) = records::read(&event.kv, String::new) {
        *slot = Some(stored);
    }
}
