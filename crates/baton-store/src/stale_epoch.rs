//! What every fence says to a writer that comes too late.

use baton_core::ids::Epoch;

/// A later epoch was admitted to the resource: the writer's term is over, and it must stop.
///
/// A fence belongs to its resource, which exists once, whatever the namespace of its writer. Epochs
/// of two namespaces cannot be compared, and so a service that moves to another namespace is
/// refused until a person has made sure that the old instances are gone, and resets the fence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "epoch {given} is behind {highest}, which was admitted to {resource}; its term is over (if \
     epochs began anew, in another namespace or a new store: `baton fences reset {resource}`)"
)]
pub struct StaleEpoch {
    /// The resource.
    pub resource: String,
    /// The epoch that asked.
    pub given: Epoch,
    /// The highest that was admitted.
    pub highest: Epoch,
}
