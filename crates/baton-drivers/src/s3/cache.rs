//! What a handle remembers of one namespace. Only ever a guess: the server decides by the ETag.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use baton_core::ids::NodeId;
use object_store::path::Path;
use tokio::time::Instant;

use super::counters::{StoredCounters, WatchedWriters};
use super::json_object::{CacheSlot, Cached, JsonObject};
use super::registry::SeenRecord;
use super::state::State;

#[derive(Debug, Default)]
pub(super) struct NamespaceCache {
    /// Is the namespace known to be in a format that this program knows?
    pub(super) admitted: AtomicBool,
    pub(super) state: CacheSlot<State>,
    pub(super) counters: CacheSlot<StoredCounters>,
    pub(super) watched: Mutex<WatchedWriters>,
    records: Mutex<BTreeMap<NodeId, Arc<SeenRecord>>>,
    /// The body of each document that was read or written here, and the key of its object.
    bodies: Mutex<BTreeMap<String, (String, Vec<u8>)>>,
    /// Bodies that no document has any more, each with the time from which it may be removed.
    discarded: Mutex<Vec<(Instant, Path)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}

impl NamespaceCache {
    pub(super) fn object<J: JsonObject>(&self) -> MutexGuard<'_, Option<Arc<Cached<J>>>> {
        locked(J::slot(self))
    }

    /// The node records as this handle last saw them.
    pub(super) fn records(&self) -> MutexGuard<'_, BTreeMap<NodeId, Arc<SeenRecord>>> {
        locked(&self.records)
    }

    /// The body that the object with this key has, if it is that of the document as last seen.
    pub(super) fn body(&self, document: &str, key: &str) -> Option<Vec<u8>> {
        let bodies = locked(&self.bodies);
        bodies.get(document).filter(|(known, _)| known == key).map(|(_, body)| body.clone())
    }

    pub(super) fn keep_body(&self, document: &str, key: String, body: Vec<u8>) {
        locked(&self.bodies).insert(document.to_owned(), (key, body));
    }

    /// No document has this body any more.
    pub(super) fn discard(&self, body: Path, from: Instant) {
        locked(&self.discarded).push((from, body));
    }

    /// The bodies that may be removed now.
    pub(super) fn take_discarded(&self, now: Instant) -> Vec<Path> {
        let mut discarded = locked(&self.discarded);
        let due = discarded.extract_if(.., |(from, _)| *from <= now);
        due.map(|(_, body)| body).collect()
    }
}
