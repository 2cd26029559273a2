//! Why a call failed: the error for its caller, and whether the connection can be used again.

use std::time::Duration;

use baton_store::StoreError;

/// The error of one call in any driver. A driver's `error.rs` turns the error of its client library
/// into it, by codes and types and never by text.
#[derive(Debug)]
pub(crate) struct DriverError {
    error: StoreError,
    breaks_connection: bool,
}

impl DriverError {
    /// A record that is not one of baton's: which, and what is wrong with it.
    pub(crate) fn corrupt(record: impl Into<String>, detail: impl Into<String>) -> Self {
        StoreError::Corrupt { record: record.into(), detail: detail.into() }.into()
    }

    /// Nothing was written; the same call may succeed later.
    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        StoreError::Unavailable { detail: detail.into() }.into()
    }

    /// Nothing was written: the server has too much to do.
    pub(crate) fn throttled(detail: impl Into<String>) -> Self {
        StoreError::Throttled { detail: detail.into() }.into()
    }

    /// Nothing was written, and a person must act.
    pub(crate) fn refused(detail: impl Into<String>) -> Self {
        StoreError::Refused { detail: detail.into() }.into()
    }

    /// What was to be written may have been.
    pub(crate) fn unknown(detail: impl Into<String>) -> Self {
        StoreError::Unknown { detail: detail.into() }.into()
    }

    /// No answer came within this time, and the connection may be dead.
    pub(crate) fn timed_out(waited: Duration) -> Self {
        Self::unknown(format!("no answer within {} ms", waited.as_millis())).breaking_connection()
    }

    /// The same error, after which the connection is discarded: it is broken, or the server behind
    /// it is not the right one any more.
    #[must_use]
    pub(crate) fn breaking_connection(self) -> Self {
        Self { breaks_connection: true, ..self }
    }

    /// The same error of a call that writes nothing: no outcome of it is unknown.
    #[must_use]
    pub(crate) fn of_read(self) -> Self {
        match self.error {
            StoreError::Unknown { detail } => {
                Self { error: StoreError::Unavailable { detail }, ..self }
            }
            error => Self { error, ..self },
        }
    }

    /// Must the connection be discarded?
    pub(crate) fn breaks_connection(&self) -> bool {
        self.breaks_connection
    }

    /// The error for the caller of the store.
    pub(crate) fn into_store_error(self) -> StoreError {
        self.error
    }
}

/// The connection can be used again.
impl From<StoreError> for DriverError {
    fn from(error: StoreError) -> Self {
        Self { error, breaks_connection: false }
    }
}

impl From<DriverError> for StoreError {
    fn from(error: DriverError) -> Self {
        error.into_store_error()
    }
}
