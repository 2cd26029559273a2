//! The term history, read. It is written by the procedures that begin and end terms.

use baton_core::protocol::TermRecord;

use super::context::CallContext;
use super::statement::literal;
use crate::driver::{DriverError, Record};

/// The last terms, the newest first.
pub(super) async fn newest(
    context: &CallContext<'_>,
    limit: usize,
) -> Result<Vec<TermRecord>, DriverError> {
    let rows = context.rows(format!(
        "SELECT epoch, node_id, boot, began_ms, ended_ms, ended_by, gap_ms, gap_at_most_ms \
         FROM `{}terms` WHERE namespace = {} ORDER BY seq DESC LIMIT {limit}",
        context.prefix(),
        literal(context.namespace)
    ));
    let record = format!("the term history of namespace {}", context.namespace);
    rows.await?.iter().map(|row| Record::new(row, &record).term()).collect()
}
