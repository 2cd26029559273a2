//! Versioned documents.

use baton_core::ids::{Epoch, Lineage, Namespace};
use baton_store::{Document, Precondition, StoreError, WriteOutcome};
use mysql_async::Row;

use super::row::{Columns, only};
use super::statement::{Bytes, Statement, literal};

fn record(namespace: &Namespace, name: &str) -> String {
    format!("document {name:?} of namespace {namespace}")
}

/// Reads a document.
pub(super) fn read(prefix: &str, namespace: &Namespace, name: &str) -> String {
    format!(
        "SELECT version, body FROM `{prefix}documents` WHERE namespace = {} AND name = {}",
        literal(namespace),
        literal(Bytes(name.as_bytes()))
    )
}

/// The document of an answer.
pub(super) fn document(
    rows: &[Row],
    namespace: &Namespace,
    name: &str,
) -> Result<Option<Document>, StoreError> {
    let Some(row) = rows.first() else { return Ok(None) };
    let record = record(namespace, name);
    let columns = Columns::new(row, &record);
    Ok(Some(Document {
        version: columns.number("version")?,
        body: columns.bytes("body")?.to_vec(),
    }))
}

/// The call that writes a document.
pub(super) fn write(
    prefix: &str,
    (namespace, name): (&Namespace, &str),
    seen: Lineage,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> String {
    let version = match precondition {
        Precondition::Version(version) => Some(version),
        Precondition::Any | Precondition::Absent => None,
    };
    Statement::call(prefix, "write_document")
        .with(namespace)
        .with(seen)
        .with(Bytes(name.as_bytes()))
        .with(Bytes(body))
        .with(precondition == Precondition::Any)
        .with(precondition == Precondition::Absent)
        .with(version)
        .with(fence)
        .text()
}

/// What a write came to, and in which lineage.
pub(super) fn written(
    rows: &[Row],
    namespace: &Namespace,
    name: &str,
) -> Result<(Lineage, WriteOutcome), StoreError> {
    let record = record(namespace, name);
    let columns = only(rows, &record)?;
    let version = columns.number("version")?;
    let outcome = match columns.number::<u64>("outcome")? {
        0 => WriteOutcome::Conflict(version),
        1 => WriteOutcome::Written(version),
        _ => WriteOutcome::Fenced,
    };
    Ok((Lineage(columns.number("lineage")?), outcome))
}
