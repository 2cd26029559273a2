//! The nodes that calls of this process have in the namespaces of keys: one a key at a time, for
//! two of one process would be taken for one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use baton_core::ids::Namespace;

use crate::error::BuildError;
use crate::node::Node;
use crate::shared::Shared;

/// The last node in each namespace, until it has left.
#[derive(Default)]
pub(crate) struct OwnNodes(Mutex<BTreeMap<Namespace, Arc<Shared>>>);

impl OwnNodes {
    /// Starts a node in this namespace, once the one before it has left: that of another call, or
    /// of one that was dropped.
    pub(super) async fn start(
        &self,
        namespace: &Namespace,
        build: impl Fn() -> Result<Node, BuildError>,
    ) -> Result<Node, BuildError> {
        loop {
            let before = match self.start_or_find(namespace, &build)? {
                Ok(node) => return Ok(node),
                Err(before) => before,
            };
            before.left().await;
        }
    }

    /// The node, or the one that has to leave before.
    fn start_or_find(
        &self,
        namespace: &Namespace,
        build: &impl Fn() -> Result<Node, BuildError>,
    ) -> Result<Result<Node, Arc<Shared>>, BuildError> {
        let mut nodes = self.0.lock().expect("no holder panics");
        nodes.retain(|_, node| node.departed.borrow().is_none());
        if let Some(before) = nodes.get(namespace) {
            return Ok(Err(before.clone()));
        }
        let node = build()?;
        nodes.insert(namespace.clone(), node.shared.clone());
        Ok(Ok(node))
    }
}
