//! The rules of versioned documents.

use baton_core::ids::Epoch;
use baton_store::{Document, Precondition, WriteOutcome};
use rusqlite::OptionalExtension;

use super::columns::Bits;
use super::error::Fault;
use super::step::Step;

/// Reads a document.
pub(super) fn read(step: &Step<'_>, name: &str) -> Result<Option<Document>, Fault> {
    let sql = "SELECT version, body FROM baton_documents WHERE namespace = ?1 AND name = ?2";
    let mut statement = step.conn.prepare_cached(sql)?;
    let found = statement.query_row((step.namespace.as_str(), name), |row| {
        Ok(Document { version: row.get::<_, Bits>(0)?.0, body: row.get(1)? })
    });
    found.optional().map_err(|error| spoilt(step, name, error))
}

/// Writes a document, fenced if an epoch is given.
pub(super) fn write(
    step: &Step<'_>,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, Fault> {
    let space = step.space_or_begin()?;
    if let Some(fence) = fence
        && step.is_fenced_off(space, fence)?
    {
        return Ok(WriteOutcome::Fenced);
    }
    let present = version(step, name)?;
    let holds = match precondition {
        Precondition::Any => true,
        Precondition::Absent => present == 0,
        Precondition::Version(version) => present == version && present != 0,
    };
    if !holds {
        return Ok(WriteOutcome::Conflict(present));
    }
    let sql = "INSERT INTO baton_documents (namespace, name, version, body, updated_at) \
               VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (namespace, name) \
               DO UPDATE SET version = ?3, body = ?4, updated_at = ?5";
    let (at, next) = (Bits(step.at.wall_ms), present.saturating_add(1));
    let values = (step.namespace.as_str(), name, Bits(next), body, at);
    step.conn.prepare_cached(sql)?.execute(values)?;
    if let Some(fence) = fence {
        step.raise_fence(fence)?;
    }
    Ok(WriteOutcome::Written(next))
}

/// The version of a document; 0 if there is none.
fn version(step: &Step<'_>, name: &str) -> Result<u64, Fault> {
    let sql = "SELECT version FROM baton_documents WHERE namespace = ?1 AND name = ?2";
    let mut statement = step.conn.prepare_cached(sql)?;
    let found = statement.query_row((step.namespace.as_str(), name), |row| row.get::<_, Bits>(0));
    let found = found.optional().map_err(|error| spoilt(step, name, error))?;
    Ok(found.map_or(0, |bits| bits.0))
}

fn spoilt(step: &Step<'_>, name: &str, error: rusqlite::Error) -> Fault {
    Fault::reading(|| format!("document {name:?} of namespace {}", step.namespace), error)
}
