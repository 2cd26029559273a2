//! `state.json`: everything that must change in one step with the lease, as one object.
//!
//! The rules are those of the memory store, and so is the data: [`Space`], written down.

use baton_core::ids::Lineage;
use baton_store::memory::Space;
use baton_store::{ExpiryClock, StoreError};
use serde::{Deserialize, Serialize};

use super::schema::{FORMAT, check, corrupt};

/// A document may have so many bytes.
pub(super) const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// The whole object may have so many; every renewal writes all of it.
pub(super) const STATE_BYTES_MAX: usize = 1024 * 1024;

/// So many terms are kept in it.
const TERMS_KEPT: usize = 100;

/// The object as it is written.
#[derive(Serialize, Deserialize)]
struct Written<S> {
    format: u32,
    /// Tells this write from every other: an ETag is made from the content, and equal content
    /// would have an equal one.
    write: String,
    space: S,
}

/// A namespace that nobody has written to. The store cannot tell one line of history from another.
pub(super) fn empty() -> Space {
    Space::new(ExpiryClock::Observer, Lineage(0))
}

/// Reads the object.
pub(super) fn read(record: &str, body: &[u8]) -> Result<Space, StoreError> {
    check(record, body)?;
    let written: Result<Written<Space>, _> = serde_json::from_slice(body);
    written.map(|written| written.space).map_err(|problem| corrupt(record, &problem))
}

/// Writes the object down; too large a one is refused with both numbers.
pub(super) fn write(space: &Space, write: String) -> Result<Vec<u8>, StoreError> {
    let written = Written { format: FORMAT, write, space };
    let body = serde_json::to_vec(&written).expect("it is plain data");
    if body.len() <= STATE_BYTES_MAX {
        return Ok(body);
    }
    let bytes = body.len();
    Err(StoreError::Refused {
        detail: format!(
            "state.json would have {bytes} bytes, and at most {STATE_BYTES_MAX} are allowed; \
             keep less in documents"
        ),
    })
}

/// What need not be kept is let go before a write.
pub(super) fn trim(space: &mut Space) {
    space.keep_terms(TERMS_KEPT);
}
