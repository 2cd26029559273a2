//! Old records go: nodes that were silent for long, and terms beyond those that are kept.

use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_store::{Prune, PruneOutcome, StoreError};
use mysql_async::Row;

use super::row::only;
use super::statement::Statement;

/// The server has no earlier time than the year 1000.
const LONGEST: Duration = Duration::from_secs(900 * 365 * 24 * 60 * 60);

/// The call that lets them go.
pub(super) fn call(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    fence: Epoch,
    prune: &Prune,
) -> String {
    let dead_for = prune.dead_for.min(LONGEST);
    let keep = u64::try_from(prune.keep_terms.max(1)).unwrap_or(u64::MAX);
    Statement::call(prefix, "prune")
        .with(namespace)
        .with(seen)
        .with(fence)
        .with(dead_for.as_secs())
        .with(u64::from(dead_for.subsec_micros()))
        .with(keep)
        .with(u64::from(prune.limit))
        .text()
}

/// What became of it, and in which lineage.
pub(super) fn outcome(
    rows: &[Row],
    namespace: &Namespace,
) -> Result<(Lineage, PruneOutcome), StoreError> {
    let record = format!("the records of namespace {namespace}");
    let columns = only(rows, &record)?;
    let outcome = match columns.maybe_number("pruned")? {
        Some(records) => PruneOutcome::Pruned { records },
        None => PruneOutcome::Fenced,
    };
    Ok((Lineage(columns.number("lineage")?), outcome))
}
