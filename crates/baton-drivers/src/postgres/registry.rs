//! The registry, read and left. It is written by beats.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{Member, NodeProfile, NodeRecord, Outcome};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::error::Fault;
use super::step::Step;

const MEMBERS: &str = "SELECT node_id, boot, beat::text, eligible, draining, load, seen::text, \
    profile, {t}us_after(beat_at, clock_timestamp())::text FROM {t}nodes WHERE namespace = $1 \
    ORDER BY node_id";

/// Every node record, sorted by id, with its age.
pub(super) async fn members(step: &Step<'_>) -> Result<Vec<Member>, Fault> {
    let rows = step.rows(MEMBERS, &[]).await?;
    rows.iter().map(|row| member(step, row)).collect()
}

fn member(step: &Step<'_>, row: &Row) -> Result<Member, Fault> {
    let spoilt = |what: &str, problem: &dyn std::fmt::Display| {
        let record = format!("a node record of namespace {}", step.namespace);
        Fault::Corrupt { record, detail: format!("{what}: {problem}") }
    };
    let id = NodeId::new(step.column(row, 0)?).map_err(|problem| spoilt("node_id", &problem))?;
    let boot = BootId::try_from(step.column::<String>(row, 1)?);
    let profile: NodeProfile = serde_json::from_str(step.column(row, 7)?)
        .map_err(|problem| spoilt("profile", &problem))?;
    let load = u32::try_from(step.column::<i64>(row, 5)?);
    let record = NodeRecord {
        id,
        boot: boot.map_err(|problem| spoilt("boot", &problem))?,
        beat: step.number(row, 2)?,
        eligible: step.column(row, 3)?,
        draining: step.column(row, 4)?,
        load: load.map_err(|problem| spoilt("load", &problem))?,
        seen: Epoch(step.number(row, 6)?),
        profile: Arc::new(profile),
    };
    let silent_for = Some(Duration::from_micros(step.number(row, 8)?));
    Ok(Member { record, silent_for })
}

/// Takes a node's record out, if it is still this boot's.
pub(super) async fn leave(step: &Step<'_>, node: &NodeId, boot: BootId) -> Result<Outcome, Fault> {
    let (node, boot) = (node.as_str(), boot.to_string());
    let sql = "SELECT {t}leave($1, $2::numeric, $3, $4, $5)";
    step.outcome(sql, &[(&node, Type::TEXT), (&boot, Type::TEXT)]).await
}
