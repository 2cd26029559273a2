//! The rules of versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, WriteOutcome};
use rusqlite::OptionalExtension;

use super::columns::Bits;
use super::context::CallContext;
use crate::driver::DriverError;

/// Reads a document.
pub(super) fn read(context: &CallContext<'_>, name: &str) -> Result<Option<Document>, DriverError> {
    let sql = "SELECT version, body FROM baton_documents WHERE namespace = ?1 AND name = ?2";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found = statement.query_row((context.namespace.as_str(), name), |row| {
        Ok(Document { version: row.get::<_, Bits>(0)?.0, body: row.get(1)? })
    });
    found.optional().map_err(context.spoilt(format_args!("document {name:?}")))
}

/// Writes a document, fenced if an epoch is given.
pub(super) fn write(
    context: &CallContext<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, DriverError> {
    let space = context.space_or_begin()?;
    if let Some(fence) = fence
        && context.is_fenced_off(space, fence)?
    {
        return Ok(WriteOutcome::Fenced);
    }
    let present = version(context, name)?;
    if !precondition.holds(present) {
        return Ok(WriteOutcome::Conflict(present));
    }
    let sql = "INSERT INTO baton_documents (namespace, name, version, body, updated_at) \
               VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (namespace, name) \
               DO UPDATE SET version = ?3, body = ?4, updated_at = ?5";
    let (at, next) = (Bits(context.at.wall_ms), present.saturating_add(1));
    let values = (context.namespace.as_str(), name, Bits(next), body, at);
    context.conn.prepare_cached(sql)?.execute(values)?;
    if let Some(fence) = fence {
        context.raise_fence(fence)?;
    }
    Ok(WriteOutcome::Written(next))
}

/// The version of a document; 0 if there is none.
fn version(context: &CallContext<'_>, name: &str) -> Result<u64, DriverError> {
    let sql = "SELECT version FROM baton_documents WHERE namespace = ?1 AND name = ?2";
    let mut statement = context.conn.prepare_cached(sql)?;
    let found =
        statement.query_row((context.namespace.as_str(), name), |row| row.get::<_, Bits>(0));
    let found = found.optional().map_err(context.spoilt(format_args!("document {name:?}")))?;
    Ok(found.map_or(0, |bits| bits.0))
}
