//! The format of the objects, and the object that says which one a namespace is in.
//!
//! An object names the lowest format whose programs can use it without losing anything: it has a
//! later one only if a program of an earlier one would misread it. So a program that is put back in
//! place of a later one goes on with what it knows, and refuses the rest.

use std::sync::atomic::Ordering;

use baton_store::StoreError;
use serde::{Deserialize, Serialize};

use super::bucket::{Condition, Got, Put};
use super::context::CallContext;

/// The format that programs began with.
pub(super) const FIRST_FORMAT: u32 = 1;

/// The latest format that this program knows: bodies of documents are objects of their own.
pub(super) const KNOWN_FORMAT: u32 = 2;

/// `metadata.json`: written once, by the first node of a namespace.
#[derive(Debug, Serialize, Deserialize)]
struct Metadata {
    format: u32,
    /// For people.
    made_by: String,
}

/// What every object begins with.
#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Is the object in a format that is known? Looked at before anything else in it.
pub(super) fn check(record: &str, body: &[u8]) -> Result<(), StoreError> {
    let head: Head = serde_json::from_slice(body).map_err(|problem| corrupt(record, &problem))?;
    match head.format {
        FIRST_FORMAT..=KNOWN_FORMAT => Ok(()),
        found => Err(StoreError::Refused {
            detail: format!(
                "{record} has format {found}, and this program knows {KNOWN_FORMAT}; use a newer \
                 version of it"
            ),
        }),
    }
}

/// The error for an object that is not one of baton's.
pub(super) fn corrupt(record: &str, problem: &dyn std::fmt::Display) -> StoreError {
    StoreError::Corrupt { record: record.to_owned(), detail: problem.to_string() }
}

impl CallContext<'_> {
    /// The namespace must be in a known format; a call that writes marks a new one. Once a handle.
    pub(super) async fn admit(&self, writes: bool) -> Result<(), StoreError> {
        if self.cache.admitted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let key = &self.keys.metadata;
        loop {
            if let Got::Found { body, .. } = self.bucket.get(key, None, self.deadline).await? {
                check(key.as_ref(), &body)?;
                break;
            }
            if !writes {
                return Ok(());
            }
            let made_by = format!("baton {}", env!("CARGO_PKG_VERSION"));
            let metadata = Metadata { format: FIRST_FORMAT, made_by };
            let body = serde_json::to_vec(&metadata).expect("it is plain data");
            let put = self.bucket.put(key, body, None, Condition::Absent, self.deadline).await?;
            if put != Put::Lost {
                break;
            }
        }
        self.cache.admitted.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_format_is_refused_with_both_numbers_and_rubbish_is_corrupt() {
        for compatible in [&b"{\"format\":1,\"more\":[]}"[..], b"{\"format\":2,\"more\":{}}"] {
            assert_eq!(check("a/state.json", compatible), Ok(()));
        }
        let later = check("a/state.json", b"{\"format\":3}").expect_err("it is later").to_string();
        let wanted = "a/state.json has format 3, and this program knows 2; use a newer version";
        assert!(later.contains(wanted), "{later}");
        for rubbish in [&b"Dear diary"[..], b"{}", b"", b"{\"format\":-1}"] {
            let found = check("a/state.json", rubbish);
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
        }
    }
}
