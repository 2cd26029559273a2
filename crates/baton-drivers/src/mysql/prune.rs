//! Old records go: nodes that were silent for long, and terms beyond those that are kept.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_store::{Prune, PruneOutcome};

use super::context::CallContext;
use crate::driver::{DriverError, Record};

/// The server has no earlier time than the year 1000.
const LONGEST: Duration = Duration::from_secs(900 * 365 * 24 * 60 * 60);

/// Lets them go, unless a later epoch is known.
pub(super) async fn prune(
    context: &CallContext<'_>,
    fence: Epoch,
    prune: &Prune,
) -> Result<PruneOutcome, DriverError> {
    let dead_for = prune.dead_for.min(LONGEST);
    let call = context
        .procedure("prune")
        .with(fence)
        .with(dead_for.as_secs())
        .with(u64::from(dead_for.subsec_micros()))
        .with(u64::try_from(prune.keep_terms.max(1)).unwrap_or(u64::MAX))
        .with(u64::from(prune.limit));
    let row = context.call(call).await?;
    let pruned = Record::new(&row, &context.record_name()).maybe_number("pruned")?;
    Ok(pruned.map_or(PruneOutcome::Fenced, |records| PruneOutcome::Pruned { records }))
}
