//! The format of the objects, and the object that says which one a namespace is in.

use std::sync::atomic::Ordering;

use baton_store::StoreError;
use serde::{Deserialize, Serialize};

use super::bucket::{Condition, Got, Put};
use super::step::Step;

/// The format that this program reads and writes.
pub(super) const FORMAT: u32 = 1;

/// `metadata.json`: written once, by whoever is first in a namespace.
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

/// Is the object in the format that is known? Looked at before anything else in it.
pub(super) fn check(record: &str, body: &[u8]) -> Result<(), StoreError> {
    let head: Head = serde_json::from_slice(body).map_err(|problem| corrupt(record, &problem))?;
    match head.format {
        FORMAT => Ok(()),
        found => Err(StoreError::Refused {
            detail: format!(
                "{record} has format {found}, and this program knows {FORMAT}; use a newer \
                 version of it"
            ),
        }),
    }
}

/// An object that is not one of ours.
pub(super) fn corrupt(record: &str, problem: &dyn std::fmt::Display) -> StoreError {
    StoreError::Corrupt { record: record.to_owned(), detail: problem.to_string() }
}

impl Step<'_> {
    /// The namespace must be in the known format; whoever writes marks a new one with it. Once a
    /// handle.
    pub(super) async fn admit(&self, writes: bool) -> Result<(), StoreError> {
        if self.shelf.admitted.load(Ordering::Relaxed) {
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
            let metadata = Metadata { format: FORMAT, made_by };
            let body = serde_json::to_vec(&metadata).expect("it is plain data");
            let put = self.bucket.put(key, body, None, Condition::Absent, self.deadline).await?;
            if put != Put::Lost {
                break;
            }
        }
        self.shelf.admitted.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_format_is_refused_with_both_numbers_and_rubbish_is_corrupt() {
        assert_eq!(check("a/state.json", b"{\"format\":1,\"more\":[]}"), Ok(()));
        let later = check("a/state.json", b"{\"format\":2}").expect_err("it is later").to_string();
        let wanted = "a/state.json has format 2, and this program knows 1; use a newer version";
        assert!(later.contains(wanted), "{later}");
        for rubbish in [&b"Dear diary"[..], b"{}", b"", b"{\"format\":-1}"] {
            let found = check("a/state.json", rubbish);
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
        }
    }
}
