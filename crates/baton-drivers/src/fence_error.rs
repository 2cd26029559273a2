//! Why a fenced write did not take place: the same reasons on every store.

use baton_core::ids::EpochTooHigh;
use baton_store::StaleEpoch;
use baton_store::sweep::SweepError;

/// Why a fenced write was not admitted, or is not known to have been. `E` is the error of the
/// client library. In a transaction: roll it back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError<E> {
    /// The writer's term is over.
    #[error(transparent)]
    StaleEpoch(#[from] StaleEpoch),
    /// No term has this epoch. Nothing was admitted.
    #[error(transparent)]
    TooHigh(#[from] EpochTooHigh),
    /// The register cannot have this name.
    #[error("fence name {name:?} must be {wanted}")]
    Name {
        /// What was given: a prefix, or a schema and a prefix.
        name: String,
        /// Which names there are.
        wanted: &'static str,
    },
    /// The fence holds something else than an epoch: a person must look.
    #[error("the fence of {resource} holds something other than an epoch: {found}")]
    Foreign {
        /// The resource.
        resource: String,
        /// What it holds, and what to do about it.
        found: String,
    },
    /// S3 only: the body lacks the mark that tells it from every other write.
    #[error(
        "{resource}: the body does not contain the mark {mark}; put the mark anywhere in the body"
    )]
    NoMark {
        /// The object's key.
        resource: String,
        /// What it should contain.
        mark: String,
    },
    /// S3 only: the system gave no randomness for a mark.
    #[error("the system has no random numbers ({0})")]
    NoRandomness(String),
    /// The store failed. Nothing is said about the epoch, and a write may have taken place: read it
    /// back, unless its transaction is rolled back.
    #[error(transparent)]
    Store(E),
}

impl<E> FenceError<E> {
    /// What it means for a sweep of this target; `failed` says what the client's error means.
    pub(crate) fn into_sweep_error(
        self,
        target: &str,
        failed: impl FnOnce(E) -> SweepError,
    ) -> SweepError
    where
        E: std::fmt::Display,
    {
        match self {
            Self::StaleEpoch(stale) => stale.into(),
            Self::Store(error) => failed(error),
            other => SweepError::Rejected { target: target.to_owned(), detail: other.to_string() },
        }
    }
}
