//! The registry, read and left. It is written by beats.

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, Outcome};

use super::context::CallContext;
use super::statement::literal;
use crate::driver::{DriverError, Record};

/// Every node record, sorted by id, with its age.
pub(super) async fn members(context: &CallContext<'_>) -> Result<Vec<Member>, DriverError> {
    let rows = context.rows(format!(
        "SELECT node_id, boot, beat, eligible, draining, job_count AS `load`, seen, profile, \
         GREATEST(TIMESTAMPDIFF(MICROSECOND, beat_at, UTC_TIMESTAMP(6)), 0) AS silent_us \
         FROM `{}nodes` WHERE namespace = {} ORDER BY node_id",
        context.prefix(),
        literal(context.namespace)
    ));
    let record = format!("a node record of namespace {}", context.namespace);
    rows.await?.iter().map(|row| Record::new(row, &record).member()).collect()
}

/// Takes a node's record out, if it is still this boot's.
pub(super) async fn leave(
    context: &CallContext<'_>,
    node: &NodeId,
    boot: BootId,
) -> Result<Outcome, DriverError> {
    context.outcome(context.procedure("leave").with(node).with(boot)).await
}
