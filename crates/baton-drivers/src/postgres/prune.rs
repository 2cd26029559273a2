//! Old records go: nodes that were silent for long, and terms beyond those that are kept.

use baton_core::ids::Epoch;
use baton_store::{Prune, PruneOutcome};
use tokio_postgres::types::Type;

use super::context::CallContext;
use crate::driver::DriverError;

/// No interval of the server's is longer than this many milliseconds: some ten thousand years.
const LONGEST_MS: u64 = 315_576_000_000_000;

/// Lets them go, unless a later epoch is known.
pub(super) async fn prune(
    context: &CallContext<'_>,
    fence: Epoch,
    prune: &Prune,
) -> Result<PruneOutcome, DriverError> {
    let fence = fence.0.to_string();
    let dead_ms = u64::try_from(prune.dead_for.as_millis()).unwrap_or(LONGEST_MS);
    let dead_ms = dead_ms.min(LONGEST_MS).cast_signed();
    let keep = i64::try_from(prune.keep_terms.max(1)).unwrap_or(i64::MAX);
    let most = i64::from(prune.limit);
    let sql = "SELECT {t}prune($1, $2::numeric, $3, $4::numeric, $5, $6, $7)";
    let params: [super::context::Param<'_>; 4] =
        [(&fence, Type::TEXT), (&dead_ms, Type::INT8), (&keep, Type::INT8), (&most, Type::INT8)];
    let row = context.call(sql, &params).await?;
    let gone: Option<i64> = context.column(&row, 0)?;
    Ok(gone.map_or(PruneOutcome::Fenced, |gone| PruneOutcome::Pruned {
        records: u32::try_from(gone).unwrap_or(u32::MAX),
    }))
}
