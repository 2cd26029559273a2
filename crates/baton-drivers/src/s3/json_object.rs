//! An object of a namespace that is read, changed and written back whole.
//!
//! ```text
//!   {"format": 1, "write": "which write this was", "space": its content}
//! ```

use std::sync::{Arc, Mutex};

use baton_store::StoreError;
use object_store::path::Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::cache::NamespaceCache;
use super::layout::Keys;
use super::schema::{FIRST_FORMAT, check, corrupt};

/// The content of such an object.
pub(super) trait JsonObject: Clone + Serialize + DeserializeOwned {
    /// The most bytes that the whole object may have.
    const BYTES_MAX: usize;

    /// What is to be done about one that has more.
    const REMEDY: &'static str;

    /// Its key.
    fn key(keys: &Keys) -> &Path;

    /// Where a handle remembers it.
    fn slot(cache: &NamespaceCache) -> &CacheSlot<Self>;

    /// The content before the first write.
    fn empty() -> Self;

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

/// The place for it.
pub(super) type CacheSlot<J> = Mutex<Option<Arc<Cached<J>>>>;

#[derive(Serialize, Deserialize)]
struct Stored<J> {
    format: u32,
    /// Tells this write from every other: an ETag is made from the content, and equal content
    /// would have an equal one.
    write: String,
    space: J,
}

/// Reads the object.
pub(super) fn read<J: JsonObject>(keys: &Keys, body: &[u8]) -> Result<J, StoreError> {
    let record = J::key(keys).as_ref();
    check(record, body)?;
    let stored: Result<Stored<J>, _> = serde_json::from_slice(body);
    stored.map(|stored| stored.space).map_err(|problem| corrupt(record, &problem))
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
