//! Fenced, versioned documents: small state of plugins and of the leader, read and written in
//! batches.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::election::Answer;
use crate::error::StoreError;

/// The most documents that one call reads or writes.
pub const DOCUMENTS_MAX: usize = 100;

/// The most bytes that the bodies of one write have together. The smallest limits are etcd's, 1.5
/// MiB a request, and that of an object on S3.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;

/// A document as read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Counts its writes, from 1.
    pub version: u64,
    /// What it says.
    pub body: Vec<u8>,
}

/// What must hold for a document to be written. Each names the outcome it yields otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precondition {
    /// Nothing: write in any case.
    Any,
    /// It does not exist; else [`WriteOutcome::Conflict`].
    Absent,
    /// It is at this version; else [`WriteOutcome::Conflict`].
    Version(u64),
}

impl Precondition {
    /// Does it hold for a document at this version, 0 if there is none?
    pub fn holds(self, present: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => present == 0,
            Self::Version(version) => present == version && present != 0,
        }
    }
}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentWrite {
    /// The name of the document. No other write of the batch has it.
    pub name: String,
    /// Its new content.
    pub body: Vec<u8>,
    /// What must hold.
    pub precondition: Precondition,
}

/// What a batch of writes came to: all of it, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchOutcome {
    /// All documents are written, at these versions, in the order of the writes.
    Written(Vec<u64>),
    /// A precondition did not hold, and nothing was written.
    Conflict {
        /// The first write whose precondition did not hold, counted from 0.
        index: usize,
        /// The version that this document has, 0 if there is none.
        version: u64,
    },
    /// A later epoch exists: the writer's term is over, and nothing was written.
    Fenced,
}

impl BatchOutcome {
    /// The conflict of these writes with documents at these versions, 0 where there is none; `None`
    /// if every precondition holds.
    pub fn conflict(writes: &[DocumentWrite], present: &[u64]) -> Option<Self> {
        let mut all = writes.iter().zip(present).enumerate();
        let (index, (_, version)) =
            all.find(|(_, (write, present))| !write.precondition.holds(**present))?;
        Some(Self::Conflict { index, version: *version })
    }

    /// What the only write of a batch came to.
    ///
    /// # Panics
    ///
    /// If the batch was written and had no write.
    pub fn of_one(self) -> WriteOutcome {
        match self {
            Self::Written(versions) => {
                let version = versions.first().expect("a batch of one has the version of one");
                WriteOutcome::Written(*version)
            }
            Self::Conflict { version, .. } => WriteOutcome::Conflict(version),
            Self::Fenced => WriteOutcome::Fenced,
        }
    }
}

/// What a write of one document came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteOutcome {
    /// Written, at this version.
    Written(u64),
    /// The precondition did not hold; this is the version there is, 0 if none.
    Conflict(u64),
    /// A later epoch exists: the writer's term is over.
    Fenced,
}

/// Why a call about documents is refused by every store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum InvalidBatch {
    #[error(
        "a call names {count} documents, and at most {DOCUMENTS_MAX} are allowed; make several \
         calls"
    )]
    TooMany { count: usize },
    #[error("a call names document {name:?} twice; name each document once")]
    Twice { name: String },
    #[error(
        "document {name:?} has {bytes} bytes, and at most {DOCUMENT_BYTES_MAX} are allowed; keep \
         it elsewhere and its name here"
    )]
    TooLarge { name: String, bytes: usize },
    #[error(
        "a batch of {count} documents has {bytes} bytes, and at most {DOCUMENT_BYTES_MAX} are \
         allowed; write it in several calls"
    )]
    TooLargeTogether { count: usize, bytes: usize },
}

impl From<InvalidBatch> for StoreError {
    fn from(problem: InvalidBatch) -> Self {
        Self::Refused { detail: problem.to_string() }
    }
}

/// Refuses a read that names too many documents, or one twice; answers one that names none.
pub(crate) fn check_read(names: &[String]) -> Result<Option<Answer>, StoreError> {
    check_names(names.iter().map(String::as_str))?;
    Ok(names.is_empty().then(|| Answer::Documents(Vec::new())))
}

/// Refuses a batch of too many writes or too many bytes, or that names a document twice; answers
/// one that has no write.
pub(crate) fn check_write(writes: &[DocumentWrite]) -> Result<Option<Answer>, StoreError> {
    check_names(writes.iter().map(|write| write.name.as_str()))?;
    let bytes: usize = writes.iter().map(|write| write.body.len()).sum();
    if bytes > DOCUMENT_BYTES_MAX {
        let large = writes.iter().find(|write| write.body.len() > DOCUMENT_BYTES_MAX);
        let problem = match large {
            Some(DocumentWrite { name, body, .. }) => {
                InvalidBatch::TooLarge { name: name.clone(), bytes: body.len() }
            }
            None => InvalidBatch::TooLargeTogether { count: writes.len(), bytes },
        };
        return Err(problem.into());
    }
    Ok(writes.is_empty().then(|| Answer::Written(BatchOutcome::Written(Vec::new()))))
}

fn check_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Result<(), InvalidBatch> {
    let count = names.len();
    if count > DOCUMENTS_MAX {
        return Err(InvalidBatch::TooMany { count });
    }
    if count < 2 {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name) {
            return Err(InvalidBatch::Twice { name: name.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: usize, bytes: usize) -> DocumentWrite {
        let (name, body) = (name.to_string(), vec![0; bytes]);
        DocumentWrite { name, body, precondition: Precondition::Any }
    }

    #[test]
    fn a_batch_beyond_a_limit_is_refused_with_both_numbers() {
        let share = DOCUMENT_BYTES_MAX / DOCUMENTS_MAX;
        let full: Vec<_> = (0..DOCUMENTS_MAX).map(|name| write(name, share)).collect();
        assert_eq!(check_write(&full), Ok(None));
        assert_eq!(check_write(&[write(0, DOCUMENT_BYTES_MAX)]), Ok(None));
        let many: Vec<_> = (0..=DOCUMENTS_MAX).map(|name| write(name, 0)).collect();
        let large = [write(0, DOCUMENT_BYTES_MAX), write(1, 1)];
        for (batch, wanted) in [
            (&many[..], "a call names 101 documents, and at most 100 are allowed"),
            (
                &large[..],
                "a batch of 2 documents has 1048577 bytes, and at most 1048576 are allowed",
            ),
            (
                &[write(7, DOCUMENT_BYTES_MAX + 1)],
                "document \"7\" has 1048577 bytes, and at most 1048576 are allowed",
            ),
            (&[write(7, 0), write(8, 0), write(7, 0)], "a call names document \"7\" twice"),
        ] {
            let refused = check_write(batch).expect_err("it is beyond a limit").to_string();
            assert!(refused.contains(wanted), "{refused}");
        }
        let names: Vec<_> = many.into_iter().map(|write| write.name).collect();
        assert!(check_read(&names).is_err());
        assert_eq!(check_read(&names[1..]), Ok(None));
        assert!(check_read(&["d".to_owned(), "d".to_owned()]).is_err());
    }

    #[test]
    fn what_asks_for_nothing_is_answered_at_once() {
        assert_eq!(check_read(&[]), Ok(Some(Answer::Documents(Vec::new()))));
        let written = Answer::Written(BatchOutcome::Written(Vec::new()));
        assert_eq!(check_write(&[]), Ok(Some(written)));
    }

    #[test]
    fn the_first_write_that_does_not_hold_is_the_conflict() {
        let batch = [write(0, 0), write(1, 0), write(2, 0)]
            .map(|write| DocumentWrite { precondition: Precondition::Absent, ..write });
        assert_eq!(BatchOutcome::conflict(&batch, &[0, 0, 0]), None);
        let found = BatchOutcome::conflict(&batch, &[0, 4, 9]);
        assert_eq!(found, Some(BatchOutcome::Conflict { index: 1, version: 4 }));
    }
}
