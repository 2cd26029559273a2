//! What becomes of a run that was cut off: its process died, or its node lost the leadership.

use serde::{Deserialize, Serialize};

/// What becomes of a run that was cut off, of which it is not known how far it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnCrash {
    /// Another node runs it again: at least once.
    #[default]
    Retry,
    /// It counts as failed, and is not run again: at most once.
    Skip,
}
