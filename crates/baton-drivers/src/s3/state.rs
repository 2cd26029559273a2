//! `state.json`: everything that must change in one step with the lease, as one object.
//!
//! The rules are those of the memory store, and so is the data: [`Space`], written down. The body
//! of a document is an object of its own, and what [`Space`] has for it is the key of that object:
//!
//! ```text
//!   state.json   …, "documents": {"d": [3, {"text": "documents/document=d/…"}]},
//!                "documents_in_objects": ["d"]
//!   documents/document=d/…   the body of version 3, never changed
//! ```
//!
//! A document that a program of the first format wrote has its body in `state.json`, until it is
//! written again.

use std::collections::BTreeSet;

use baton_core::ids::{Epoch, Lineage};
use baton_store::memory::Space;
use baton_store::{BatchOutcome, DocumentWrite, ExpiryClock};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::json_object::{CacheSlot, JsonObject, NamespaceCache};
use super::schema::{FIRST_FORMAT, KNOWN_FORMAT, Keys};

const TERMS_KEPT: usize = 100;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    #[serde(flatten)]
    pub(super) space: Space,
    /// The documents whose bodies are objects of their own.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    documents_in_objects: BTreeSet<String>,
}

impl State {
    /// The key of the object that has the document's body, if one has: it begins in the folder of
    /// the namespace. A program of the first format wrote the body itself.
    pub(super) fn body_key(&self, name: &str) -> Option<String> {
        let is_in_object = self.documents_in_objects.contains(name);
        let key = self.space.read_document(name).filter(|_| is_in_object)?.body;
        Some(String::from_utf8_lossy(&key).into_owned())
    }

    /// The keys of all bodies that are objects of their own.
    pub(super) fn body_keys(&self) -> BTreeSet<String> {
        self.documents_in_objects.iter().filter_map(|name| self.body_key(name)).collect()
    }

    /// Gives documents the bodies that the objects with these keys have.
    pub(super) fn write_documents(
        &mut self,
        writes: Vec<DocumentWrite>,
        fence: Option<Epoch>,
    ) -> BatchOutcome {
        let names: Vec<String> = writes.iter().map(|write| write.name.clone()).collect();
        let outcome = self.space.write_documents(writes, fence);
        if let BatchOutcome::Written(_) = outcome {
            self.documents_in_objects.extend(names);
        }
        outcome
    }
}

/// Before the first write. The store cannot tell one line of history from another.
impl Default for State {
    fn default() -> Self {
        let space = Space::new(ExpiryClock::Observer, Lineage(0));
        Self { space, documents_in_objects: BTreeSet::new() }
    }
}

impl JsonObject for State {
    /// Every renewal writes all of it.
    const BYTES_MAX: usize = 1024 * 1024;
    const REMEDY: &'static str = "keep fewer documents";

    fn key(keys: &Keys) -> &Path {
        &keys.state
    }

    fn slot(cache: &NamespaceCache) -> &CacheSlot<Self> {
        &cache.state
    }

    fn trim(&mut self) {
        self.space.keep_terms(TERMS_KEPT);
    }

    /// A program of the first format would take the key of a body for the body.
    fn format(&self) -> u32 {
        match self.documents_in_objects.is_empty() {
            true => FIRST_FORMAT,
            false => KNOWN_FORMAT,
        }
    }
}
