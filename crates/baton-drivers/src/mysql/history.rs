//! The term history, as people read it.

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::TermRecord;
use baton_store::StoreError;
use mysql_async::Row;

use super::row::Columns;
use super::statement::literal;

/// Reads the last terms, the newest first.
pub(super) fn read(prefix: &str, namespace: &Namespace, limit: usize) -> String {
    format!(
        "SELECT epoch, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, gap_at_most_ms \
         FROM `{prefix}terms` WHERE namespace = {} ORDER BY seq DESC LIMIT {limit}",
        literal(namespace)
    )
}

/// The terms of an answer.
pub(super) fn terms(rows: &[Row], namespace: &Namespace) -> Result<Vec<TermRecord>, StoreError> {
    let record = format!("the term history of namespace {namespace}");
    rows.iter().map(|row| term(&Columns::new(row, &record))).collect()
}

fn term(columns: &Columns<'_>) -> Result<TermRecord, StoreError> {
    let ended_ms = columns.maybe_number("ended_ms")?;
    Ok(TermRecord {
        epoch: Epoch(columns.number("epoch")?),
        node: columns.node("node_id")?,
        boot: columns.boot("boot")?,
        began_ms: columns.number("began_ms")?,
        ended: ended_ms.zip(columns.maybe_json("ended_by")?),
        gap_ms: columns.maybe_number("gap_ms")?,
        gap_at_most_ms: columns.maybe_number("gap_at_most_ms")?,
    })
}
