//! Baton's own old records: nodes that fell silent long ago, and terms that are of no more use.

use std::sync::atomic::Ordering;
use std::time::Duration;

use baton_store::{Prune, PruneOutcome, StoreError};

use super::{InvalidTtl, Ttl};
use crate::leadership::Leadership;

/// A node that was silent for less may only be slow, or on its way back from a restart.
const FORGET_LEAST: Duration = Duration::from_secs(60);

/// Which of baton's own records go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnRecords {
    /// How long a node must be silent before its record is removed. A node that comes back writes a
    /// new one.
    pub forget_dead_after: Duration,
    /// The number of the last terms that are kept. No store keeps more than 1,000.
    pub keep_terms: usize,
}

impl Default for OwnRecords {
    fn default() -> Self {
        Self { forget_dead_after: Duration::from_secs(24 * 60 * 60), keep_terms: 1_000 }
    }
}

impl OwnRecords {
    pub(super) fn check(&self) -> Result<(), InvalidTtl> {
        match self.forget_dead_after < FORGET_LEAST {
            true => Err(InvalidTtl::ForgetDeadAfter(self.forget_dead_after, FORGET_LEAST)),
            false => Ok(()),
        }
    }
}

impl Ttl {
    /// Removes what is old, a batch at a time.
    pub(super) async fn prune(&self, term: &Leadership) -> Result<(), StoreError> {
        let Some(own) = self.own else { return Ok(()) };
        while term.may_start_work() {
            let prune = Prune {
                dead_for: own.forget_dead_after,
                keep_terms: own.keep_terms,
                limit: self.batch,
            };
            let PruneOutcome::Pruned { records } = term.prune(prune).await? else {
                return Ok(());
            };
            self.pruned.fetch_add(u64::from(records), Ordering::Relaxed);
            if records < self.batch || !self.paused(term).await {
                return Ok(());
            }
        }
        Ok(())
    }
}
