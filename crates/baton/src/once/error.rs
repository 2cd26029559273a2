//! Errors of work that is done once.

use std::time::Duration;

use baton_core::schedule::once::OnceFailure;
use baton_core::schedule::once_key::{InvalidKey, OnceKey};
use baton_core::settings::show_span;
use baton_store::StoreError;

use crate::error::{BuildError, LeftError};
use crate::plugin::PluginError;

/// Why the work of a key was not done, or it is not known that it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnceError {
    /// Give the work another key.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// The work of this call returned an error. A later call runs it again.
    #[error("{key} failed: {problem}; a later start runs it again")]
    Work {
        /// The key.
        key: OnceKey,
        /// The error that the work returned.
        problem: PluginError,
    },
    /// Another node ran the work while this one waited, and it failed or was cut off. A later call
    /// runs it again.
    #[error("{key}: {failure}; a later start runs it again")]
    Failed {
        /// The key.
        key: OnceKey,
        /// What happened.
        failure: OnceFailure,
    },
    /// The time limit passed. Work of this call was stopped; what another node runs goes on.
    #[error("{key} was not done within {}", show_span(*limit))]
    TimedOut {
        /// The key.
        key: OnceKey,
        /// The limit.
        limit: Duration,
    },
    /// The node of the key could not be started.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The node of the key had to leave: another process has its id, or its thread failed.
    #[error("the node that waited for the work has left; start it again")]
    Left(#[from] LeftError),
    /// A person must look: the record is not of this version.
    #[error(
        "document baton:once of namespace {namespace} cannot be read as format 1 ({problem}); \
         it was left as it is"
    )]
    Unreadable {
        /// The namespace of the key.
        namespace: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The store said so.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OnceError {
    /// May the same request be answered a little later?
    pub(super) fn is_transient(&self) -> bool {
        use StoreError::{Throttled, Unavailable, Unknown};
        matches!(self, Self::Store(Unknown { .. } | Unavailable { .. } | Throttled { .. }))
    }
}
