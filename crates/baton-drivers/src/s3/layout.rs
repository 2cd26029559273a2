//! Which key an object has.

use baton_core::ids::{Namespace, NodeId};
use baton_store::StoreError;
use object_store::path::Path;

use super::schema::corrupt;

/// The folder of the bodies of documents.
const DOCUMENTS: &str = "documents";

/// How much of a document's name stands in the keys of its bodies, for people; keys have a limit.
const NAME_MAX: usize = 64;

/// The keys of one prefix.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    prefix: Path,
}

/// The keys of one namespace. Names are checked where they are made, so each is one segment.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    folder: Path,
    /// The folder of all namespaces.
    pub(super) prefix: Path,
    /// Lease, fence, view, terms and which documents there are: what changes in one step.
    pub(super) state: Path,
    /// The counters: what changes with every append.
    pub(super) counters: Path,
    /// Which format all of it is in.
    pub(super) metadata: Path,
    /// The folder of the node records.
    pub(super) workers: Path,
    /// The folder of the bodies of documents.
    pub(super) documents: Path,
}

impl Layout {
    /// Under this prefix; says what is wrong with it if it cannot be one.
    pub(super) fn new(prefix: &str) -> Result<Self, String> {
        let prefix = Path::parse(prefix).map_err(|error| error.to_string())?;
        Ok(Self { prefix })
    }

    /// The keys of a namespace.
    pub(super) fn of(&self, namespace: &Namespace) -> Keys {
        let folder = self.prefix.clone().join(format!("namespace={namespace}"));
        Keys {
            state: folder.clone().join("state.json"),
            counters: folder.clone().join("counters.json"),
            metadata: folder.clone().join("metadata.json"),
            workers: folder.clone().join("workers"),
            documents: folder.clone().join(DOCUMENTS),
            prefix: self.prefix.clone(),
            folder,
        }
    }

    /// Folder and object of the test that a server has to pass.
    pub(super) fn self_test(&self, name: &str) -> (Path, Path) {
        let folder = self.prefix.clone().join("self-test");
        (folder.clone(), folder.join(name))
    }
}

/// The namespace that a folder is of, if it is one of a namespace.
pub(super) fn namespace(folder: &Path) -> Option<Namespace> {
    Namespace::new(folder.filename()?.strip_prefix("namespace=")?).ok()
}

impl Keys {
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

    /// The key of a node's record.
    pub(super) fn worker(&self, node: &NodeId) -> Path {
        self.workers.clone().join(format!("worker={node}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_as_documented() {
        let keys = |prefix, namespace| {
            let namespace = Namespace::new(namespace).expect("a good name");
            Layout::new(prefix).expect("a good prefix").of(&namespace)
        };
        assert_eq!(keys("", "web").state.as_ref(), "namespace=web/state.json");
        assert_eq!(keys("team/a", "web").metadata.as_ref(), "team/a/namespace=web/metadata.json");
        let node = NodeId::new("pod-1.x:_").expect("a good name");
        let key = keys("t", "..").worker(&node);
        assert_eq!(key.as_ref(), "t/namespace=../workers/worker=pod-1.x:_.json");
        assert!(Layout::new("a//b").is_err());
        let body = |name: &str| keys("t", "web").new_body(name, "7-1");
        assert_eq!(body("plugin:x"), "documents/document=plugin:x/7-1");
        assert_eq!(body(""), "documents/document=/7-1");
        assert_eq!(body("a/b é"), "documents/document=a%2Fb %C3%A9/7-1");
        let whole = keys("t", "web").body(&body("a/b")).expect("it was just made");
        assert_eq!(whole.as_ref(), "t/namespace=web/documents/document=a%2Fb/7-1");
        assert!(body(&"é".repeat(1_000)).len() < 500);
    }
}
