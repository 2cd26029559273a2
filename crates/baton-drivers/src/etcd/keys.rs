//! Where everything of a namespace is kept.
//!
//! ```text
//!   PREFIX/format                   the version of all this
//!   PREFIX/NAMESPACE/lead/lease     the lease record; never deleted
//!                        /holder    goes with an etcd lease: while it is there, the term is live
//!                        /fence     the highest epoch that a write carried
//!                        /view      the published view
//!                   /nodes/ID       one record a node
//!                   /terms/NUMBER   one record a term
//!                   /documents/NAME
//!                   /fences/NAME    for the user's own data
//! ```
//!
//! Neither a namespace nor a node id has a `/` in it, so nothing is taken for something else.

use baton_core::ids::{Namespace, NodeId};

/// The key of the format's version.
pub(super) fn format(prefix: &str) -> String {
    format!("{prefix}/format")
}

/// The keys of one namespace.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    space: String,
}

impl Keys {
    pub(super) fn new(prefix: &str, namespace: &Namespace) -> Self {
        Self { space: format!("{prefix}/{namespace}/") }
    }

    /// What hints are made from.
    pub(super) fn lead(&self) -> String {
        format!("{}lead/", self.space)
    }

    pub(super) fn lease(&self) -> String {
        format!("{}lead/lease", self.space)
    }

    pub(super) fn holder(&self) -> String {
        format!("{}lead/holder", self.space)
    }

    pub(super) fn fence(&self) -> String {
        format!("{}lead/fence", self.space)
    }

    pub(super) fn view(&self) -> String {
        format!("{}lead/view", self.space)
    }

    pub(super) fn nodes(&self) -> String {
        format!("{}nodes/", self.space)
    }

    pub(super) fn node(&self, node: &NodeId) -> String {
        format!("{}nodes/{node}", self.space)
    }

    pub(super) fn terms(&self) -> String {
        format!("{}terms/", self.space)
    }

    /// Numbers have all their digits, so that keys sort as they do.
    pub(super) fn term(&self, number: u64) -> String {
        format!("{}terms/{number:020}", self.space)
    }

    pub(super) fn document(&self, name: &str) -> String {
        format!("{}documents/{name}", self.space)
    }

    pub(super) fn resource(&self, name: &str) -> String {
        format!("{}fences/{name}", self.space)
    }
}
