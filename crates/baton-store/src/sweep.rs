//! Removing what has expired, one bounded batch at a time: what a place to be swept must offer.
//!
//! ```text
//!   the leader ── batch(epoch, limit) ──► Sweep ──► one short transaction or script
//!                                                          fence(epoch): a later one? StaleEpoch
//!                                                          at most `limit` records that are due
//! ```
//!
//! Whether a record is due is judged by the clock of the server that keeps it, read in the same
//! step. Two machines' clocks are never compared.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Epoch;

use crate::error::StoreError;
use crate::stale_epoch::StaleEpoch;

/// What one batch came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many records went.
    pub records: u32,
    /// Is there likely more that is due now?
    pub more: bool,
}

/// Why a batch did not take place, by what to do about it. One line each, with the target named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// Stop: a later epoch was here, so the term is over. Nothing was removed.
    #[error(transparent)]
    StaleEpoch(#[from] StaleEpoch),
    /// Try again later: nothing was removed.
    #[error("{target} cannot be swept now ({detail}); nothing was removed")]
    Unavailable {
        /// What was to be swept.
        target: String,
        /// What happened.
        detail: String,
    },
    /// Try again later: the batch may have taken place, all of it or nothing.
    #[error("whether {target} was swept is unknown ({detail}); the next batch goes on from there")]
    Unknown {
        /// What was to be swept.
        target: String,
        /// What happened.
        detail: String,
    },
    /// A person must act: a wrong table, column or strategy, or missing rights.
    #[error("{target} cannot be swept: {detail}")]
    Rejected {
        /// What was to be swept.
        target: String,
        /// What is wrong, and what to do about it.
        detail: String,
    },
    /// The user's callback returned an error: nothing was removed, and the same comes again.
    #[error("the callback of {target} failed ({detail}); nothing was removed")]
    Callback {
        /// What was to be swept.
        target: String,
        /// What the callback said.
        detail: String,
    },
}

impl SweepError {
    /// What an error of a store means for the sweeping of this target.
    #[must_use]
    pub fn of_store(target: &str, error: StoreError) -> Self {
        let target = target.to_owned();
        match error {
            StoreError::Unknown { detail } => Self::Unknown { target, detail },
            StoreError::Unavailable { detail } | StoreError::Throttled { detail } => {
                Self::Unavailable { target, detail }
            }
            StoreError::Refused { detail } => Self::Rejected { target, detail },
            other => Self::Rejected { target, detail: other.to_string() },
        }
    }
}

/// A place that records expire in: a table, an index of keys, a folder of objects.
///
/// # Contract
///
/// 1. **One batch is one step:** a short transaction or script that removes at most `limit`
///    records. Where a store has no transactions (S3), each record is a step of its own.
/// 2. **Fenced in the same step.** Once a later epoch was admitted, a batch removes nothing and is
///    [`SweepError::StaleEpoch`].
/// 3. **Never early.** A record goes when its expiry is at or before the server's own time, looked
///    at again under its lock and in every act upon it: an update that moved the expiry saves the
///    record, and no other record goes with it.
/// 4. **The oldest first,** so that nothing is left behind.
#[async_trait]
pub trait Sweep: Send + Sync + 'static {
    /// What is swept, for people: the store and the table, index or folder.
    fn name(&self) -> &str;

    /// Looks at the target, and changes nothing: why the first batch would be refused.
    async fn examine(&self) -> Result<(), SweepError>;

    /// Removes at most `limit` records that have expired, unless a later epoch was here.
    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError>;
}

#[async_trait]
impl<S: Sweep + ?Sized> Sweep for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn examine(&self) -> Result<(), SweepError> {
        (**self).examine().await
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        (**self).batch(epoch, limit).await
    }
}
