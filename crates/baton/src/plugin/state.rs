//! What a plugin keeps from one term to the next: one document, which only the leader writes.

use baton_store::{Precondition, StoreError, WriteOutcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::leadership::Leadership;

const PREFIX: &str = "plugin:";

/// Why a plugin's state was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Stop: another term has begun. Nothing was written.
    #[error("the state of plugin {plugin} was not written: epoch {epoch} is over")]
    TermOver {
        /// Whose state.
        plugin: String,
        /// The term that is over.
        epoch: baton_core::ids::Epoch,
    },
    /// Change the type back, or move the state over.
    #[error("the state of plugin {plugin} is not of the type it was asked for ({problem})")]
    Foreign {
        /// Whose state.
        plugin: String,
        /// What does not fit.
        problem: serde_json::Error,
    },
    /// The store failed. A write that is unknown may have happened: read again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The state of one plugin, by its name: a value in JSON, fenced by the epoch of the term.
#[derive(Debug)]
pub struct PluginState<'a> {
    pub(crate) term: &'a Leadership,
    pub(crate) plugin: String,
}

impl PluginState<'_> {
    fn document(&self) -> String {
        format!("{PREFIX}{}", self.plugin)
    }

    /// What was written last, in this term or one before it; `None` if nothing ever was.
    pub async fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, StateError> {
        let found = self.term.read_document(&self.document()).await?;
        let value = found.map(|document| serde_json::from_slice(&document.body)).transpose();
        let plugin = self.plugin.clone();
        value.map_err(|problem| StateError::Foreign { plugin, problem })
    }

    /// Writes it, unless a later term has begun.
    pub async fn write<T: Serialize>(&self, value: &T) -> Result<(), StateError> {
        let plugin = self.plugin.clone();
        let body = serde_json::to_vec(value);
        let body =
            body.map_err(|problem| StateError::Foreign { plugin: plugin.clone(), problem })?;
        let document = self.document();
        match self.term.write_document(&document, body, Precondition::Any).await? {
            WriteOutcome::Written(_) => Ok(()),
            // There is no precondition to conflict with.
            WriteOutcome::Fenced | WriteOutcome::Conflict(_) => {
                Err(StateError::TermOver { plugin, epoch: self.term.epoch() })
            }
        }
    }
}
