//! The records as they are written: JSON for those that people may want to read.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{NodeRecord, TermRecord, Version, View};
use baton_store::lease_rule::LeaseRecord;
use baton_store::{Document, StoreError};
use serde::{Deserialize, Serialize};

use super::wire::KeyValue;

/// The lease record, its etcd lease, and the present term, so that closing that needs no reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LeaseRow {
    #[serde(flatten)]
    pub(super) record: LeaseRecord,
    /// The etcd lease that the holder key is attached to; 0 after a release.
    pub(super) lease: i64,
    /// What etcd granted: whole seconds, at least the ttl.
    pub(super) granted: Duration,
    /// When it ends if it is not renewed, by the holder's wall clock. For the history alone.
    pub(super) until_ms: u64,
    /// The present or last term, and its number among all of them.
    pub(super) term: TermRecord,
    pub(super) number: u64,
}

/// A record as it was read, and what shows that it did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored<T> {
    pub(super) record: T,
    /// The very bytes. Numbers of revisions come again when a copy is restored; nonces do not.
    pub(super) raw: Vec<u8>,
    pub(super) revision: i64,
    pub(super) lease: i64,
}

pub(super) trait Record: Sized {
    fn read(raw: &[u8]) -> Result<Self, String>;
    fn write(&self) -> Vec<u8>;
}

macro_rules! json {
    ($($record:ty),+) => {$(
        impl Record for $record {
            fn read(raw: &[u8]) -> Result<Self, String> {
                serde_json::from_slice(raw).map_err(|problem| problem.to_string())
            }

            fn write(&self) -> Vec<u8> {
                serde_json::to_vec(self).expect("it is plain data")
            }
        }
    )+};
}

json!(LeaseRow, Version, NodeRecord, TermRecord, Arc<View>);

/// All its digits, so that etcd, which compares bytes, compares numbers.
impl Record for Epoch {
    fn read(raw: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(raw).map_err(|problem| problem.to_string())?;
        text.parse().map(Self).map_err(|problem: std::num::ParseIntError| problem.to_string())
    }

    fn write(&self) -> Vec<u8> {
        format!("{:020}", self.0).into_bytes()
    }
}

/// Eight bytes of version, then the body.
impl Record for Document {
    fn read(raw: &[u8]) -> Result<Self, String> {
        let (version, body) = raw.split_first_chunk::<8>().ok_or("it is too short")?;
        Ok(Self { version: u64::from_be_bytes(*version), body: body.to_vec() })
    }

    fn write(&self) -> Vec<u8> {
        document(self.version, &self.body)
    }
}

/// A document as it is written.
pub(super) fn document(version: u64, body: &[u8]) -> Vec<u8> {
    [&version.to_be_bytes()[..], body].concat()
}

/// Reads a record; `what` names it if that fails.
pub(super) fn read<T: Record>(
    found: &KeyValue,
    what: impl FnOnce() -> String,
) -> Result<Stored<T>, StoreError> {
    let raw = found.value.clone();
    let record = T::read(&raw).map_err(|detail| StoreError::Corrupt { record: what(), detail })?;
    Ok(Stored { record, raw, revision: found.mod_revision, lease: found.lease })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_sort_as_text() {
        let written: Vec<Vec<u8>> = [0, 9, 10, u64::MAX].map(|it| Epoch(it).write()).into();
        assert!(written.is_sorted(), "{written:?}");
        assert_eq!(Epoch::read(&Epoch(u64::MAX).write()), Ok(Epoch(u64::MAX)));
        assert!(Epoch::read(b"soon").is_err());
    }

    #[test]
    fn a_document_is_its_version_and_its_body() {
        let document = Document { version: 7, body: b"x".to_vec() };
        assert_eq!(Document::read(&document.write()), Ok(document));
        assert!(Document::read(b"short").is_err());
    }
}
