//! The registry, read and left. It is written by beats.

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Member, Outcome};
use tokio_postgres::types::Type;

use super::context::CallContext;
use crate::driver::{DriverError, Record};

const MEMBERS: &str = "SELECT node_id, boot, beat::text, eligible::integer::text AS eligible, \
    draining::integer::text AS draining, load::text, seen::text, profile, \
    {t}us_after(beat_at, clock_timestamp())::text AS silent_us FROM {t}nodes \
    WHERE namespace = $1 ORDER BY node_id";

/// Every node record, sorted by id, with its age.
pub(super) async fn members(context: &CallContext<'_>) -> Result<Vec<Member>, DriverError> {
    let rows = context.rows(MEMBERS, &[]).await?;
    let record = format!("a node record of namespace {}", context.namespace);
    rows.iter().map(|row| Record::new(row, &record).member()).collect()
}

/// Takes a node's record out, if it is still this boot's.
pub(super) async fn leave(
    context: &CallContext<'_>,
    node: &NodeId,
    boot: BootId,
) -> Result<Outcome, DriverError> {
    let (node, boot) = (node.as_str(), boot.to_string());
    let sql = "SELECT {t}leave($1, $2::numeric, $3, $4, $5)";
    context.outcome(sql, &[(&node, Type::TEXT), (&boot, Type::TEXT)]).await
}
