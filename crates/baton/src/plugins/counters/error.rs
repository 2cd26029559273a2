//! Why something was not counted or read.

use baton_store::{CounterName, InvalidCounter, StoreError};

use crate::error::BuildError;

/// Why something was not counted or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// Give another name.
    #[error(transparent)]
    Name(#[from] InvalidCounter),
    /// Change by less at once.
    #[error(
        "{counter} cannot be lowered by {by}: 64 bits do not hold its opposite; take two steps"
    )]
    TooFar {
        /// Which counter.
        counter: CounterName,
        /// By how much.
        by: i64,
    },
    /// It may have been counted, once: compare with what is read, or accept the doubt.
    #[error("the change may or may not have been counted ({detail}); it is not tried any more")]
    Unknown {
        /// What happened to the last try that had no answer.
        detail: String,
    },
    /// It was certainly not counted: try again later.
    #[error("the change was not counted ({detail}); try again")]
    NotCounted {
        /// What happened last.
        detail: String,
    },
    /// The counter left the range of 64 bits: its value is not known any more. Set it.
    #[error("{counter} overflowed 64 bits and stands at {value}; set it to count on")]
    Overflowed {
        /// Which counter.
        counter: CounterName,
        /// The end of the range that it left.
        value: i64,
    },
    /// The system gives no random numbers.
    #[error("{0}")]
    NoChance(String),
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<BuildError> for CountError {
    fn from(error: BuildError) -> Self {
        Self::NoChance(error.to_string())
    }
}
