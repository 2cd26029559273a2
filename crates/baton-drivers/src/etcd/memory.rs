//! What a handle remembers: enough to try a step without looking first. Whatever is out of date is
//! noticed by the comparisons of the step itself.
//!
//! ```text
//!   a step's answer ── remember ──►  Memories ── remembered ──► the next step
//!   a watch's event ── overhear ──►     │
//!                                       └ one Memory a namespace; all go if the data went back
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use baton_core::ids::{Namespace, NodeId};
use baton_core::protocol::NodeRecord;
use baton_core::time::Moment;

use super::keys::Keys;
use super::lease::Grant;
use super::record::{self, Record};
use super::sight::{Life, Sight, Slot};
use super::spare::{Due, Spare};
use super::wire::{Header, KeyValue};

/// What is remembered of a namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// The last look, without node and document, and what was overheard since.
    pub(super) sight: Sight,
    /// The highest revision that was heard of when it was made.
    at: i64,
    /// The records of the nodes that beat by this handle.
    pub(super) nodes: BTreeMap<NodeId, Slot<NodeRecord>>,
    life: Life,
    /// Every node, the revision of its record, and since when it is known at that one.
    unwritten: BTreeMap<NodeId, (i64, Moment)>,
    spare: Option<Spare>,
    /// What the last beat left to be done.
    due: Option<Due>,
}

/// Of every namespace.
#[derive(Default)]
pub(super) struct Memories(Mutex<All>);

#[derive(Default)]
struct All {
    spaces: BTreeMap<Namespace, Memory>,
    /// Which cluster, and the highest revision of it that an answer came from.
    cluster: u64,
    revision: i64,
}

impl Memories {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().expect("no holder of this lock panics")
    }

    fn with<T>(&self, namespace: &Namespace, act: impl FnOnce(&mut Memory) -> T) -> Option<T> {
        self.all().spaces.get_mut(namespace).map(act)
    }

    pub(super) fn remembered(&self, namespace: &Namespace) -> Option<Memory> {
        self.with(namespace, |memory| memory.clone())
    }

    pub(super) fn remember(&self, namespace: &Namespace, node: Option<&NodeId>, sight: &Sight) {
        let mut all = self.all();
        let at = all.revision;
        let memory = all.spaces.entry(namespace.clone()).or_default();
        if let Some(node) = node {
            memory.nodes.insert(node.clone(), sight.node.clone());
        }
        memory.sight = Sight { node: None, document: None, ..sight.clone() };
        memory.at = at;
    }

    /// Takes in what a watch tells of the lease, unless it was known before.
    pub(super) fn overhear(
        &self,
        namespace: &Namespace,
        keys: &Keys,
        told: &KeyValue,
        is_gone: bool,
    ) {
        self.with(namespace, |memory| {
            let sight = &mut memory.sight;
            let is = |key: String| told.key.0 == key.as_bytes();
            if told.mod_revision.0 <= memory.at {
                return;
            }
            if is(keys.lease()) {
                take_in(&mut sight.lease, told, is_gone);
            } else if is(keys.holder()) {
                take_in(&mut sight.holder, told, is_gone);
            } else if is(keys.fence()) {
                take_in(&mut sight.fence, told, is_gone);
            }
        });
    }

    pub(super) fn forget(&self, namespace: &Namespace) {
        self.all().spaces.remove(namespace);
    }

    pub(super) fn forget_node(&self, namespace: &Namespace, node: &NodeId) {
        self.with(namespace, |memory| memory.nodes.remove(node));
    }

    pub(super) fn life(&self, namespace: &Namespace) -> Life {
        self.with(namespace, |memory| memory.life).unwrap_or_default()
    }

    pub(super) fn keep_life(&self, namespace: &Namespace, life: Life) {
        self.with(namespace, |memory| memory.life = life);
    }

    pub(super) fn keep_spare(&self, namespace: &Namespace, spare: Spare) {
        self.with(namespace, |memory| memory.spare = Some(spare));
    }

    /// Is there a spare that serves for so long?
    pub(super) fn has_spare(&self, namespace: &Namespace, ttl: Duration, now: Moment) -> bool {
        let spare = self.with(namespace, |memory| memory.spare).flatten();
        spare.is_some_and(|spare| spare.serves(ttl, now))
    }

    /// That spare. It is somebody's now.
    pub(super) fn spend_spare(
        &self,
        namespace: &Namespace,
        ttl: Duration,
        now: Moment,
    ) -> Option<Grant> {
        let spare = self.with(namespace, |memory| memory.spare.take()).flatten();
        spare.filter(|spare| spare.serves(ttl, now)).map(|spare| spare.grant)
    }

    /// Remembers what is to be done once the call at hand is answered.
    pub(super) fn leave_due(&self, namespace: &Namespace, due: Due) {
        self.with(namespace, |memory| memory.due = Some(due));
    }

    pub(super) fn take_due(&self, namespace: &Namespace) -> Option<Due> {
        self.with(namespace, |memory| memory.due.take()).flatten()
    }

    /// Since when each of these nodes' records is known at the revision it has now.
    pub(super) fn unwritten_since(
        &self,
        namespace: &Namespace,
        nodes: &[(NodeId, i64)],
        now: Moment,
    ) -> Vec<Moment> {
        let mut all = self.all();
        let memory = all.spaces.entry(namespace.clone()).or_default();
        let known = std::mem::take(&mut memory.unwritten);
        let since = |(node, revision): &(NodeId, i64)| match known.get(node) {
            Some((at, since)) if at == revision => *since,
            _ => now,
        };
        let since: Vec<Moment> = nodes.iter().map(since).collect();
        let noted = nodes.iter().zip(&since);
        memory.unwritten = noted.map(|((node, at), since)| (node.clone(), (*at, *since))).collect();
        since
    }

    /// The highest revision heard of.
    pub(super) fn revision(&self) -> i64 {
        self.all().revision
    }

    /// An answer to a request that was sent when `before` was the highest revision. A lower one, or
    /// another cluster, means that the data went back: nothing remembered holds.
    pub(super) fn hear(&self, header: &Header, before: i64) {
        let mut all = self.all();
        let (cluster, revision) = (header.cluster_id.0, header.revision.0);
        if all.cluster != cluster || revision < before {
            *all = All { cluster, revision, ..All::default() };
        }
        all.revision = all.revision.max(revision);
    }
}

/// What cannot be read stays as it was: the next step finds out.
fn take_in<T: Record>(slot: &mut Slot<T>, told: &KeyValue, is_gone: bool) {
    let known = slot.as_ref().map_or(0, |seen| seen.revision);
    if told.mod_revision.0 <= known {
        return;
    }
    if is_gone {
        *slot = None;
    } else if let Ok(seen) = record::read(told, String::new) {
        *slot = Some(seen);
    }
}
