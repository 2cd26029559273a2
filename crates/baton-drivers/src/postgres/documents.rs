//! Versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, WriteOutcome};
use tokio_postgres::types::{Json, Type};

use super::context::{CallContext, Param};
use crate::driver::DriverError;

const READ: &str =
    "SELECT version::text AS version, body FROM {t}documents WHERE namespace = $1 AND name = $2";

const WRITE: &str = "SELECT {t}write_document($1, $2::numeric, $3, $4, $5, $6, $7::numeric)";

/// Reads a document.
pub(super) async fn read(
    context: &CallContext<'_>,
    name: &str,
) -> Result<Option<Document>, DriverError> {
    let rows = context.rows(READ, &[(&name.as_bytes(), Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Document { version: context.number(row, "version")?, body: context.column(row, 1)? }))
}

/// Writes a document, fenced if an epoch is given.
pub(super) async fn write(
    context: &CallContext<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, DriverError> {
    let (name, precondition) = (name.as_bytes(), Json(precondition));
    let fence = fence.map(|epoch| epoch.0.to_string());
    let more: [Param<'_>; 4] = [
        (&name, Type::BYTEA),
        (&body, Type::BYTEA),
        (&precondition, Type::JSONB),
        (&fence, Type::TEXT),
    ];
    let row = context.call(WRITE, &more).await?;
    let Json(outcome): Json<WriteOutcome> = context.column(&row, 0)?;
    Ok(outcome)
}
