//! Errors by what the caller must do. Never matched by their text.

use baton_core::protocol::Failure;
use serde::{Deserialize, Serialize};

use crate::capability::Capability;

/// Why a request got no answer, or a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreError {
    /// Read back: the request was sent and its outcome is not known.
    #[error("the outcome is unknown ({detail}); read back before trying again")]
    Unknown {
        /// What happened.
        detail: String,
    },
    /// Try again: nothing was written.
    #[error("the store cannot be reached ({detail}); nothing was written")]
    Unavailable {
        /// What happened.
        detail: String,
    },
    /// Try again later: nothing was written.
    #[error("the store is overloaded and asks to retry later ({detail}); nothing was written")]
    Throttled {
        /// What happened.
        detail: String,
    },
    /// A person must act: rights, schema, wrong server.
    #[error("the store refuses this request ({detail}); nothing was written")]
    Refused {
        /// What to do about it.
        detail: String,
    },
    /// A person must look: the record is not one of baton's. It is left as it is.
    #[error("{record} cannot be read as a record of this version ({detail}); it was left as it is")]
    Corrupt {
        /// Which record.
        record: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The store does not declare this.
    #[error("this store does not support {0}")]
    Unsupported(Capability),
}

impl StoreError {
    /// What the error means for the write, in the core's terms.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Unknown { .. } => Failure::Unknown,
            Self::Unavailable { .. } | Self::Throttled { .. } => Failure::NotDone,
            Self::Refused { .. } | Self::Corrupt { .. } | Self::Unsupported(_) => Failure::Rejected,
        }
    }
}
