//! The rules of versioned documents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::body::Body;
use crate::document::{Document, Precondition, WriteOutcome};

/// Documents by name.
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct Documents(BTreeMap<String, (u64, Body)>);

impl Documents {
    pub(super) fn read(&self, name: &str) -> Option<Document> {
        let (version, body) = self.0.get(name)?;
        Some(Document { version: *version, body: body.0.clone() })
    }

    pub(super) fn write(
        &mut self,
        name: &str,
        body: Vec<u8>,
        precondition: Precondition,
    ) -> WriteOutcome {
        let present = self.0.get(name).map_or(0, |(version, _)| *version);
        if !precondition.holds(present) {
            return WriteOutcome::Conflict(present);
        }
        self.0.insert(name.to_owned(), (present + 1, Body(body)));
        WriteOutcome::Written(present + 1)
    }
}
