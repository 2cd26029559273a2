//! What becomes of a run that was cut off: at least once, or at most once.

use serde::{Deserialize, Serialize};

/// What becomes of a run whose process died, was paused too long or lost leadership.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnCrash {
    /// It runs again, on the next leader: at least once. The work is given the number of the
    /// attempt, and must be able to run twice.
    #[default]
    Retry,
    /// It does not run again: at most once. It may not have run at all.
    Skip,
}
