//! Which key an object has.

use baton_core::ids::{Namespace, NodeId};
use object_store::path::Path;

/// The keys of one prefix.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    prefix: Path,
}

/// The keys of one namespace. Names are checked where they are made, so each is one segment.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// Lease, fence, view, documents and terms: what changes in one step.
    pub(super) state: Path,
    /// The counters: what changes with every append.
    pub(super) counters: Path,
    /// Which format all of it is in.
    pub(super) metadata: Path,
    /// The folder of the node records.
    pub(super) workers: Path,
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
            workers: folder.join("workers"),
        }
    }

    /// Where the server is tried out.
    pub(super) fn trial(&self, name: &str) -> (Path, Path) {
        let folder = self.prefix.clone().join("self-test");
        (folder.clone(), folder.join(name))
    }
}

impl Keys {
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
    }
}
