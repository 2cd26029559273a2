//! Old records go: nodes that were silent for long, and terms beyond those that are kept.

use baton_core::ids::Epoch;
use baton_store::{Prune, PruneOutcome};

use super::columns::Bits;
use super::context::CallContext;
use crate::driver::DriverError;

/// A machine that was booted since has no process of before.
const NODES: &str = include_str!("sql/prune/nodes.sql");
const TERMS: &str = include_str!("sql/prune/terms.sql");

/// Lets them go, unless a later epoch is known.
pub(super) fn prune(
    context: &CallContext<'_>,
    fence: Epoch,
    prune: &Prune,
) -> Result<PruneOutcome, DriverError> {
    let space = context.space_or_begin()?;
    if context.is_fenced_off(space, fence)? {
        return Ok(PruneOutcome::Fenced);
    }
    let namespace = context.namespace.as_str();
    let dead_for = u64::try_from(prune.dead_for.as_micros()).unwrap_or(u64::MAX);
    // Before this, in microseconds since the machine was booted; nothing was before that.
    let before = context.at.now.as_micros().checked_sub(dead_for).map_or(-1, u64::cast_signed);
    let of_this_boot = (namespace, &*context.machine.boot, before, prune.limit);
    let nodes = context.conn.prepare_cached(NODES)?.execute(of_this_boot)?;
    let left = usize::try_from(prune.limit).unwrap_or(usize::MAX) - nodes;
    let keep = i64::try_from(prune.keep_terms.max(1)).unwrap_or(i64::MAX);
    let left = Bits(left as u64);
    let terms = context.conn.prepare_cached(TERMS)?.execute((namespace, keep, left))?;
    if nodes + terms > 0 {
        context.raise_fence(fence)?;
    }
    Ok(PruneOutcome::Pruned { records: u32::try_from(nodes + terms).unwrap_or(u32::MAX) })
}
