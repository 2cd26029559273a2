//! Versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, WriteOutcome};
use tokio_postgres::types::{Json, Type};

use super::error::Fault;
use super::step::{Param, Step};

const READ: &str =
    "SELECT version::text, body FROM {t}documents WHERE namespace = $1 AND name = $2";

const WRITE: &str = "SELECT {t}write_document($1, $2::numeric, $3, $4, $5, $6, $7::numeric)";

/// Reads a document.
pub(super) async fn read(step: &Step<'_>, name: &str) -> Result<Option<Document>, Fault> {
    let rows = step.rows(READ, &[(&name.as_bytes(), Type::BYTEA)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Document { version: step.number(row, 0)?, body: step.column(row, 1)? }))
}

/// Writes a document, fenced if an epoch is given.
pub(super) async fn write(
    step: &Step<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, Fault> {
    let (name, precondition) = (name.as_bytes(), Json(precondition));
    let fence = fence.map(|epoch| epoch.0.to_string());
    let more: [Param<'_>; 4] = [
        (&name, Type::BYTEA),
        (&body, Type::BYTEA),
        (&precondition, Type::JSONB),
        (&fence, Type::TEXT),
    ];
    let row = step.call(WRITE, &more).await?;
    let Json(outcome): Json<WriteOutcome> = step.column(&row, 0)?;
    Ok(outcome)
}
