//! The fences of a database of the user's own, for people.

use baton_core::ids::Epoch;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};

use super::columns::Bits;
use super::config::SqliteConfig;
use super::error::{SqliteOpenError, uncommitted, undone};
use super::{busy_handler, reader};
use crate::OpenError;
use crate::fences::{FencesError, StoredFence};

const IS_THERE: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'baton_fences'";

fn config(location: &str) -> Result<SqliteConfig, FencesError> {
    let config = SqliteConfig::from_location(location).map_err(OpenError::from)?;
    let path = config.path.clone();
    let unreadable = |error| OpenError::from(SqliteOpenError::Unreadable { path, error });
    let path = std::path::absolute(&config.path).map_err(unreadable)?;
    Ok(SqliteConfig { path, ..config })
}

fn has_fences(conn: &Connection) -> rusqlite::Result<bool> {
    Ok(conn.query_row(IS_THERE, (), |_| Ok(())).optional()?.is_some())
}

fn all(conn: &Connection) -> rusqlite::Result<Vec<StoredFence>> {
    if !has_fences(conn)? {
        return Ok(Vec::new());
    }
    let mut rows = conn.prepare("SELECT resource, epoch FROM baton_fences")?;
    let fences = rows.query_map((), |row| {
        let epoch: Bits = row.get(1)?;
        Ok(StoredFence { resource: row.get(0)?, epoch: Epoch(epoch.0) })
    })?;
    fences.collect()
}

pub(crate) fn list(location: &str) -> Result<Vec<StoredFence>, FencesError> {
    let config = config(location)?;
    let broken = |error| SqliteOpenError::of(&config.path, config.busy_timeout, error);
    let found = reader::look_at(&config, |conn| all(conn).map_err(broken));
    Ok(found.map_err(OpenError::from)?)
}

pub(crate) fn reset(location: &str, resource: &str) -> Result<Option<Epoch>, FencesError> {
    let config = config(location)?;
    let broken =
        |error| OpenError::from(SqliteOpenError::of(&config.path, config.busy_timeout, error));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(&config.path, flags).map_err(broken)?;
    conn.busy_handler(Some(busy_handler::within(config.busy_timeout))).map_err(broken)?;
    let undone = |error: rusqlite::Error| undone(&error);
    let now = TransactionBehavior::Immediate;
    let transaction = conn.transaction_with_behavior(now).map_err(undone)?;
    if !has_fences(&transaction).map_err(undone)? {
        return Ok(None);
    }
    let delete = "DELETE FROM baton_fences WHERE resource = ?1 RETURNING epoch";
    let epoch = transaction.query_row(delete, [resource], |row| row.get::<_, Bits>(0)).optional();
    let epoch = epoch.map_err(undone)?;
    transaction.commit().map_err(|error| uncommitted(&error))?;
    Ok(epoch.map(|epoch| Epoch(epoch.0)))
}
