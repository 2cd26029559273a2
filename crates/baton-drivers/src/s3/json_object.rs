//! An object of a namespace that is read, changed and written back whole; and what a handle
//! remembers of a namespace, which is only ever a guess: the server decides by the ETag.
//!
//! ```text
//!   {"format": 1, "write": "which write this was", "space": its content}
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};

use baton_core::ids::BootId;
use baton_store::StoreError;
use object_store::path::Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::counters::StoredCounters;
use super::registry::SeenRecord;
use super::schema::{FIRST_FORMAT, Keys};
use super::state::State;
use crate::driver::Unchanged;

pub(super) trait JsonObject: Clone + Default + Serialize + DeserializeOwned {
    /// The most bytes that the whole object may have.
    const BYTES_MAX: usize;

    /// What is to be done about one that has more.
    const REMEDY: &'static str;

    fn key(keys: &Keys) -> &Path;

    /// Where a handle remembers it.
    fn slot(cache: &NamespaceCache) -> &CacheSlot<Self>;

    /// Drops what need not be kept, before a write.
    fn trim(&mut self) {}

    /// The lowest format whose programs lose nothing of this content.
    fn format(&self) -> u32 {
        FIRST_FORMAT
    }
}

/// An object as this handle last saw it.
#[derive(Debug)]
pub(super) struct Cached<J> {
    pub(super) etag: String,
    pub(super) content: J,
}

pub(super) type CacheSlot<J> = Mutex<Option<Arc<Cached<J>>>>;

#[derive(Serialize, Deserialize)]
pub(super) struct Stored<J> {
    format: u32,
    /// Tells this write from every other: an ETag is made from the content, and equal content
    /// would have an equal one.
    write: String,
    pub(super) space: J,
}

/// The object as bytes; too large a one is refused with both numbers.
pub(super) fn to_bytes<J: JsonObject>(
    keys: &Keys,
    content: &J,
    write: String,
) -> Result<Vec<u8>, StoreError> {
    let stored = Stored { format: content.format(), write, space: content };
    let body = serde_json::to_vec(&stored).expect("it is plain data");
    if body.len() <= J::BYTES_MAX {
        return Ok(body);
    }
    let (record, bytes, most, remedy) = (J::key(keys), body.len(), J::BYTES_MAX, J::REMEDY);
    Err(StoreError::Refused {
        detail: format!(
            "{record} would have {bytes} bytes, and at most {most} are allowed; {remedy}"
        ),
    })
}

#[derive(Debug, Default)]
pub(super) struct NamespaceCache {
    /// Is the namespace known to be in a format that this program knows?
    pub(super) admitted: AtomicBool,
    pub(super) state: CacheSlot<State>,
    pub(super) counters: CacheSlot<StoredCounters>,
    /// The last number of each writer of counters.
    pub(super) watched: Mutex<Unchanged<BootId, u64>>,
    records: Mutex<BTreeMap<Path, Arc<SeenRecord>>>,
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

    /// The node records as this handle last saw them, by their keys.
    pub(super) fn records(&self) -> MutexGuard<'_, BTreeMap<Path, Arc<SeenRecord>>> {
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
