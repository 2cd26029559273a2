//! An object of a namespace that is read, changed and written back whole.
//!
//! ```text
//!   {"format": 1, "write": "which write this was", "space": what it says}
//! ```

use std::sync::{Arc, Mutex};

use baton_store::StoreError;
use object_store::path::Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::layout::Keys;
use super::schema::{FORMAT, check, corrupt};
use super::step::Shelf;

/// What such an object says.
pub(super) trait Sheet: Clone + Serialize + DeserializeOwned {
    /// The whole object may have so many bytes.
    const BYTES_MAX: usize;

    /// What is to be done about one that has more.
    const REMEDY: &'static str;

    /// Its key.
    fn key(keys: &Keys) -> &Path;

    /// Where a handle remembers it.
    fn slot(shelf: &Shelf) -> &Slot<Self>;

    /// What it says before anybody has written it.
    fn empty() -> Self;

    /// What need not be kept is let go before a write.
    fn trim(&mut self) {}
}

/// A sheet as this handle last saw it.
#[derive(Debug)]
pub(super) struct Kept<S> {
    pub(super) etag: String,
    pub(super) sheet: S,
}

/// The place for it.
pub(super) type Slot<S> = Mutex<Option<Arc<Kept<S>>>>;

#[derive(Serialize, Deserialize)]
struct Written<S> {
    format: u32,
    /// Tells this write from every other: an ETag is made from the content, and equal content
    /// would have an equal one.
    write: String,
    space: S,
}

/// Reads the object.
pub(super) fn read<S: Sheet>(keys: &Keys, body: &[u8]) -> Result<S, StoreError> {
    let record = S::key(keys).as_ref();
    check(record, body)?;
    let written: Result<Written<S>, _> = serde_json::from_slice(body);
    written.map(|written| written.space).map_err(|problem| corrupt(record, &problem))
}

/// Writes the object down; too large a one is refused with both numbers.
pub(super) fn write<S: Sheet>(
    keys: &Keys,
    sheet: &S,
    write: String,
) -> Result<Vec<u8>, StoreError> {
    let written = Written { format: FORMAT, write, space: sheet };
    let body = serde_json::to_vec(&written).expect("it is plain data");
    if body.len() <= S::BYTES_MAX {
        return Ok(body);
    }
    let (record, bytes, most, remedy) = (S::key(keys), body.len(), S::BYTES_MAX, S::REMEDY);
    Err(StoreError::Refused {
        detail: format!(
            "{record} would have {bytes} bytes, and at most {most} are allowed; {remedy}"
        ),
    })
}
