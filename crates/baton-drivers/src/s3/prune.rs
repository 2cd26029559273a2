//! Old records go: terms in one step with the check of the fence, then node records one by one.
//!
//! How long a node was silent is told by the server's own dates, of the object and of the listing,
//! in whole seconds. A record that goes is marked as left, on the condition that it is still the
//! one that was listed. A node that comes back in that very moment writes a new one with its next
//! beat.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_store::memory::Space;
use baton_store::{Prune, PruneOutcome, StoreError};

use super::step::Step;

impl Step<'_> {
    /// Lets them go, unless a later epoch is known.
    pub(super) async fn prune(
        &self,
        fence: Epoch,
        prune: Prune,
    ) -> Result<PruneOutcome, StoreError> {
        let rule = |space: &mut Space, at: baton_store::memory::Stamp| {
            let outcome = space.prune(at.now, fence, prune);
            (outcome, matches!(outcome, PruneOutcome::Pruned { records: 1.. }))
        };
        let PruneOutcome::Pruned { records: terms } = self.change(rule).await? else {
            return Ok(PruneOutcome::Fenced);
        };
        let left = usize::try_from(prune.limit.saturating_sub(terms)).unwrap_or(usize::MAX);
        // Both dates are cut to whole seconds, so a second more makes sure of the whole time.
        let silent = prune.dead_for.saturating_add(Duration::from_secs(1));
        let silent = i64::try_from(silent.as_secs()).unwrap_or(i64::MAX);
        let nodes = self.forget_silent(silent, left).await?;
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        Ok(PruneOutcome::Pruned { records: terms.saturating_add(nodes) })
    }
}
