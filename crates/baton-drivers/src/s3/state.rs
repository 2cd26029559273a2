//! `state.json`: everything that must change in one step with the lease, as one object.
//!
//! The rules are those of the memory store, and so is the data: [`Space`], written down.

use baton_core::ids::Lineage;
use baton_store::ExpiryClock;
use baton_store::memory::Space;
use object_store::path::Path;

use super::layout::Keys;
use super::sheet::{Sheet, Slot};
use super::step::Shelf;

/// A document may have so many bytes.
pub(super) const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// So many terms are kept in it.
const TERMS_KEPT: usize = 100;

impl Sheet for Space {
    /// Every renewal writes all of it.
    const BYTES_MAX: usize = 1024 * 1024;
    const REMEDY: &'static str = "keep less in documents";

    fn key(keys: &Keys) -> &Path {
        &keys.state
    }

    fn slot(shelf: &Shelf) -> &Slot<Self> {
        &shelf.state
    }

    /// The store cannot tell one line of history from another.
    fn empty() -> Self {
        Self::new(ExpiryClock::Observer, Lineage(0))
    }

    fn trim(&mut self) {
        self.keep_terms(TERMS_KEPT);
    }
}
