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
