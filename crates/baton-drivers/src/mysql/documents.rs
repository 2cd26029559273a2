//! Versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, WriteOutcome};

use super::context::CallContext;
use super::statement::{Bytes, literal};
use crate::driver::{DriverError, Record};

fn record(context: &CallContext<'_>, name: &str) -> String {
    format!("document {name:?} of namespace {}", context.namespace)
}

/// Reads a document.
pub(super) async fn read(
    context: &CallContext<'_>,
    name: &str,
) -> Result<Option<Document>, DriverError> {
    let rows = context.rows(format!(
        "SELECT version, body FROM `{}documents` WHERE namespace = {} AND name = {}",
        context.prefix(),
        literal(context.namespace),
        literal(Bytes(name.as_bytes()))
    ));
    let (rows, named) = (rows.await?, record(context, name));
    let Some(row) = rows.first() else { return Ok(None) };
    let record = Record::new(row, &named);
    Ok(Some(Document { version: record.number("version")?, body: record.bytes("body")?.to_vec() }))
}

/// Writes a document, fenced if an epoch is given.
pub(super) async fn write(
    context: &CallContext<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, DriverError> {
    let version = match precondition {
        Precondition::Version(version) => Some(version),
        Precondition::Any | Precondition::Absent => None,
    };
    let call = context
        .procedure("write_document")
        .with(Bytes(name.as_bytes()))
        .with(Bytes(body))
        .with(precondition == Precondition::Any)
        .with(precondition == Precondition::Absent)
        .with(version)
        .with(fence);
    let (row, named) = (context.call(call).await?, record(context, name));
    let record = Record::new(&row, &named);
    let version = record.number("version")?;
    Ok(match record.number::<u64>("outcome")? {
        0 => WriteOutcome::Conflict(version),
        1 => WriteOutcome::Written(version),
        _ => WriteOutcome::Fenced,
    })
}
