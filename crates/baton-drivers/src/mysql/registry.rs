//! The node registry: everybody's record, and taking one out.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId};
use baton_core::protocol::{Member, NodeRecord};
use baton_store::StoreError;
use mysql_async::Row;

use super::row::Columns;
use super::statement::{Statement, literal};

/// Reads every node record, sorted by id, with its age.
pub(super) fn read(prefix: &str, namespace: &Namespace) -> String {
    format!(
        "SELECT node_id, boot, beat, eligible, draining, job_count, seen, profile, \
         GREATEST(TIMESTAMPDIFF(MICROSECOND, beat_at, UTC_TIMESTAMP(6)), 0) AS silent_us \
         FROM `{prefix}nodes` WHERE namespace = {} ORDER BY node_id",
        literal(namespace)
    )
}

/// The node records of an answer.
pub(super) fn members(rows: &[Row], namespace: &Namespace) -> Result<Vec<Member>, StoreError> {
    let record = format!("a node record of namespace {namespace}");
    rows.iter().map(|row| member(&Columns::new(row, &record))).collect()
}

fn member(columns: &Columns<'_>) -> Result<Member, StoreError> {
    let record = NodeRecord {
        id: columns.node("node_id")?,
        boot: columns.boot("boot")?,
        beat: columns.number("beat")?,
        eligible: columns.flag("eligible")?,
        draining: columns.flag("draining")?,
        load: columns.number("job_count")?,
        seen: Epoch(columns.number("seen")?),
        profile: Arc::new(columns.json("profile")?),
    };
    let silent_for = Some(Duration::from_micros(columns.number("silent_us")?));
    Ok(Member { record, silent_for })
}

/// The call that takes a node's record out.
pub(super) fn leave(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    node: &NodeId,
    boot: BootId,
) -> String {
    Statement::call(prefix, "leave").with(namespace).with(seen).with(node).with(boot).text()
}
