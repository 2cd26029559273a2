//! Which key an object has, the format of the objects, and the object that says which one a
//! namespace is in.
//!
//! An object names the lowest format whose programs can use it without losing anything: it has a
//! later one only if a program of an earlier one would misread it. So a program that is put back in
//! place of a later one goes on with what it knows, and refuses the rest.

use std::sync::atomic::Ordering;

use baton_core::ids::{Namespace, NodeId};
use baton_store::StoreError;
use object_store::path::Path;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::bucket::GetOutcome;
use super::context::CallContext;

/// The format that programs began with.
pub(super) const FIRST_FORMAT: u32 = 1;

/// The latest format that this program knows: bodies of documents are objects of their own.
pub(super) const KNOWN_FORMAT: u32 = 2;

const DOCUMENTS: &str = "documents";

/// How much of a document's name stands in the keys of its bodies, for people; keys have a limit.
const NAME_MAX: usize = 64;

/// The keys of one namespace. Names are checked where they are made, so each is one segment.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    folder: Path,
    /// Lease, fence, view, terms and which documents there are: what changes in one step.
    pub(super) state: Path,
    /// The counters: what changes with every append.
    pub(super) counters: Path,
    /// Which format all of it is in.
    pub(super) metadata: Path,
    pub(super) workers: Path,
    pub(super) documents: Path,
}

/// The namespace that a folder is of, if it is one of a namespace.
pub(super) fn namespace(folder: &Path) -> Option<Namespace> {
    Namespace::new(folder.filename()?.strip_prefix("namespace=")?).ok()
}

impl Keys {
    pub(super) fn new(prefix: &Path, namespace: &Namespace) -> Self {
        let folder = prefix.clone().join(format!("namespace={namespace}"));
        Self {
            state: folder.clone().join("state.json"),
            counters: folder.clone().join("counters.json"),
            metadata: folder.clone().join("metadata.json"),
            workers: folder.clone().join("workers"),
            documents: folder.clone().join(DOCUMENTS),
            folder,
        }
    }

    /// A key for the body of a document, as it stands in `state.json`: from the namespace's folder
    /// on, so that a copy elsewhere holds together. The mark sets it apart from every other.
    pub(super) fn new_body(&self, document: &str, mark: &str) -> String {
        let name: String = document.chars().take(NAME_MAX).collect();
        Path::from_iter([DOCUMENTS, &format!("document={name}"), mark]).to_string()
    }

    /// The whole of such a key.
    pub(super) fn body(&self, key: &str) -> Result<Path, StoreError> {
        let path = Path::parse(format!("{}/{key}", self.folder));
        path.map_err(|problem| corrupt(self.state.as_ref(), &problem))
    }

    pub(super) fn worker(&self, node: &NodeId) -> Path {
        self.workers.clone().join(format!("worker={node}.json"))
    }
}

/// What every object begins with.
#[derive(Deserialize)]
struct FormatHeader {
    format: u32,
}

/// Is the object in a format that is known? Looked at before anything else in it.
fn check(record: &str, body: &[u8]) -> Result<(), StoreError> {
    let head: FormatHeader =
        serde_json::from_slice(body).map_err(|problem| corrupt(record, &problem))?;
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

/// Reads an object, unless its format is a later one.
pub(super) fn read<T: DeserializeOwned>(record: &str, body: &[u8]) -> Result<T, StoreError> {
    check(record, body)?;
    serde_json::from_slice(body).map_err(|problem| corrupt(record, &problem))
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
            if let GetOutcome::Found { body, .. } = self.bucket.get(key, None).await? {
                check(key.as_ref(), &body)?;
                break;
            }
            if !writes {
                return Ok(());
            }
            // Who made it is for people.
            let made_by = concat!("baton ", env!("CARGO_PKG_VERSION"));
            let fields = [("format", Value::from(FIRST_FORMAT)), ("made_by", Value::from(made_by))];
            let body = Value::from_iter(fields).to_string();
            if self.bucket.put(key, body.into_bytes(), None, None).await?.is_some() {
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

    #[test]
    fn keys_are_as_documented() {
        let keys = |prefix, namespace| {
            let namespace = Namespace::new(namespace).expect("a good name");
            Keys::new(&Path::parse(prefix).expect("a good prefix"), &namespace)
        };
        assert_eq!(keys("", "web").state.as_ref(), "namespace=web/state.json");
        assert_eq!(keys("team/a", "web").metadata.as_ref(), "team/a/namespace=web/metadata.json");
        let node = NodeId::new("pod-1.x:_").expect("a good name");
        let key = keys("t", "..").worker(&node);
        assert_eq!(key.as_ref(), "t/namespace=../workers/worker=pod-1.x:_.json");
        let body = |name: &str| keys("t", "web").new_body(name, "7-1");
        assert_eq!(body("plugin:x"), "documents/document=plugin:x/7-1");
        assert_eq!(body(""), "documents/document=/7-1");
        assert_eq!(body("a/b é"), "documents/document=a%2Fb %C3%A9/7-1");
        let whole = keys("t", "web").body(&body("a/b")).expect("it was just made");
        assert_eq!(whole.as_ref(), "t/namespace=web/documents/document=a%2Fb/7-1");
        assert!(body(&"é".repeat(1_000)).len() < 500);
    }
}
