//! What the work of a key is told.

use baton_core::schedule::once_key::OnceKey;

use crate::leadership::Leadership;

/// One run of the work of a key.
///
/// It holds the term: drop it, and every clone, when the work has ended.
#[derive(Clone, Debug)]
pub struct OnceRun {
    key: OnceKey,
    attempt: u32,
    term: Leadership,
}

impl OnceRun {
    pub(super) fn new(key: OnceKey, attempt: u32, term: Leadership) -> Self {
        Self { key, attempt, term }
    }

    /// The key.
    pub fn key(&self) -> &str {
        self.key.as_str()
    }

    /// The number of this attempt, from 1. Before any later one an earlier run failed or was cut
    /// off, and may have done a part of the work.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The term of this run, in the election of this key alone. Once it is
    /// [lost](Leadership::lost), the work must stop: another node may begin to run it.
    pub fn term(&self) -> &Leadership {
        &self.term
    }
}
