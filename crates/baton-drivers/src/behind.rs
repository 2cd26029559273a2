//! What every fence says to whoever comes too late.

use baton_core::ids::Epoch;

/// A later epoch was admitted to the resource: the writer's term is over, and it must stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("epoch {given} is behind {highest}, which was admitted to {resource}; its term is over")]
pub struct Behind {
    /// The resource.
    pub resource: String,
    /// The epoch that asked.
    pub given: Epoch,
    /// The highest that was admitted.
    pub highest: Epoch,
}

impl From<Behind> for baton_store::sweep::SweepError {
    fn from(behind: Behind) -> Self {
        let Behind { resource, given, highest } = behind;
        Self::Behind { resource, given, highest }
    }
}
