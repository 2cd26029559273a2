//! Old records go: terms in one step with the check of the fence, then node records one by one.
//!
//! How long a node was silent follows from the server's own dates, of the object and of the listing,
//! in whole seconds. A record that goes is marked as left, on the condition that it is still the
//! one that was listed. A node that comes back in that very moment writes a new one with its next
//! beat.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_store::memory::Stamp;
use baton_store::{Prune, PruneOutcome, StoreError};

use super::context::CallContext;
use super::state::State;

impl CallContext<'_> {
    /// Lets them go, unless a later epoch is known.
    pub(super) async fn prune(
        &self,
        fence: Epoch,
        prune: Prune,
    ) -> Result<PruneOutcome, StoreError> {
        self.admit(true).await?;
        let rule = |state: &mut State, at: Stamp| {
            let outcome = state.space.prune(at.now, fence, prune);
            (outcome, matches!(outcome, PruneOutcome::Pruned { records: 1.. }))
        };
        let PruneOutcome::Pruned { records: terms } = self.change(rule).await? else {
            return Ok(PruneOutcome::Fenced);
        };
        let seconds = seconds_apart(prune.dead_for);
        let left = usize::try_from(prune.limit.saturating_sub(terms)).unwrap_or(usize::MAX);
        let nodes = self.forget_silent(seconds, left).await?;
        let Some(bodies) = self.prune_bodies(fence, seconds, left - nodes).await? else {
            return Ok(PruneOutcome::Fenced);
        };
        let others = u32::try_from(nodes + bodies).unwrap_or(u32::MAX);
        Ok(PruneOutcome::Pruned { records: terms.saturating_add(others) })
    }
}

/// How far apart two dates must be, both cut to whole seconds, to make sure of this time.
fn seconds_apart(time: Duration) -> i64 {
    let begun = u64::from(time.subsec_nanos() > 0);
    let seconds = time.as_secs().saturating_add(begun).saturating_add(1);
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_without_fractions_never_make_a_silence_longer_than_it_was() {
        // From 0.999 s to 1.000 s is a millisecond, and the dates are a second apart.
        for (ms, apart) in [(0, 1), (1, 2), (600, 2), (1_000, 2), (1_001, 3), (60_000, 61)] {
            assert_eq!(seconds_apart(Duration::from_millis(ms)), apart, "{ms} ms");
        }
        assert_eq!(seconds_apart(Duration::MAX), i64::MAX);
    }
}
