//! The term history, read. It is written by the steps that begin and end terms.

use baton_core::protocol::TermRecord;
use tokio_postgres::types::Type;

use super::context::CallContext;
use crate::driver::{DriverError, Record};

const NEWEST: &str = "SELECT epoch::text, node_id, boot, began_ms::text, ended_ms::text, \
    ended_by::text, gap_ms::text, gap_at_most_ms::text FROM {t}terms WHERE namespace = $1 ORDER BY seq DESC LIMIT $2";

/// The last terms, the newest first.
pub(super) async fn newest(
    context: &CallContext<'_>,
    limit: usize,
) -> Result<Vec<TermRecord>, DriverError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = context.rows(NEWEST, &[(&limit, Type::INT8)]).await?;
    let record = format!("the term history of namespace {}", context.namespace);
    rows.iter().map(|row| Record::new(row, &record).term()).collect()
}
