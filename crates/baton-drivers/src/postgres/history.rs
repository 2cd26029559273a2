//! The term history, read. It is written by the steps that begin and end terms.

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{TermEnd, TermRecord};
use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};

use super::error::Fault;
use super::step::Step;

const NEWEST: &str = "SELECT epoch::text, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, \
    gap_at_most_ms FROM {t}terms WHERE namespace = $1 ORDER BY seq DESC LIMIT $2";

/// The last terms, the newest first.
pub(super) async fn newest(step: &Step<'_>, limit: usize) -> Result<Vec<TermRecord>, Fault> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = step.rows(NEWEST, &[(&limit, Type::INT8)]).await?;
    rows.iter().map(|row| term(step, row)).collect()
}

fn term(step: &Step<'_>, row: &Row) -> Result<TermRecord, Fault> {
    let spoilt = |problem: &dyn std::fmt::Display| {
        let record = format!("the term history of namespace {}", step.namespace);
        Fault::Corrupt { record, detail: problem.to_string() }
    };
    let ended_ms: Option<i64> = step.column(row, 4)?;
    let ended_by: Option<Json<TermEnd>> = step.column(row, 5)?;
    let gap_ms: Option<i64> = step.column(row, 6)?;
    let gap_at_most_ms: Option<i64> = step.column(row, 7)?;
    let boot = BootId::try_from(step.column::<String>(row, 2)?);
    Ok(TermRecord {
        epoch: Epoch(step.number(row, 0)?),
        node: NodeId::new(step.column(row, 1)?).map_err(|problem| spoilt(&problem))?,
        boot: boot.map_err(|problem| spoilt(&problem))?,
        began_ms: step.column::<i64>(row, 3)?.unsigned_abs(),
        ended: ended_ms.zip(ended_by).map(|(at, Json(end))| (at.unsigned_abs(), end)),
        gap_ms: gap_ms.map(i64::unsigned_abs),
        gap_at_most_ms: gap_at_most_ms.map(i64::unsigned_abs),
    })
}
