//! The schema and its versions.
//!
//! SQLite's `user_version` is the version of the file. From version 4 on `baton_schema` says the
//! lowest that a program must know to use it; before, that is the version of the file.

use rusqlite::Connection;

use super::config::SqliteConfig;
use super::error::SqliteOpenError;
use crate::driver::{SchemaState, SchemaVersion};

/// Marks a file as baton's own: `bato`, in SQLite's field for that.
const APPLICATION: i64 = 0x6261_746f;

/// Is there a lowest compatible version?
const HAS_LOWEST: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'baton_schema'";

/// One a version, from version 1. None is ever changed once it was released.
const MIGRATIONS: [&str; 4] = [
    include_str!("sql/0001-begin.sql"),
    include_str!("sql/0002-counters.sql"),
    include_str!("sql/0003-gaps.sql"),
    include_str!("sql/0004-partitions.sql"),
];

/// The version that this program makes, and the lowest that a program must know to use it.
pub(super) const KNOWN: SchemaVersion = SchemaVersion::new(MIGRATIONS.len() as i64, Some(3));

/// The version of the file, 0 if there is nothing in it yet, and whether this program can use it.
/// Refuses what is not baton's, or needs a later program, before anything is changed in it.
pub(super) fn version(
    conn: &Connection,
    config: &SqliteConfig,
) -> Result<(i64, SchemaState), SqliteOpenError> {
    let path = || config.path.clone();
    let found = at_one_moment(conn).map_err(|error| config.broken(error))?;
    let found = found.ok_or_else(|| SqliteOpenError::Foreign { path: path() })?;
    let state = found.check(KNOWN);
    let state = state.map_err(|reason| SqliteOpenError::NewerSchema { path: path(), reason })?;
    Ok((found.version, state))
}

/// Another process may be making the file right now: all is read in one transaction.
fn at_one_moment(conn: &Connection) -> rusqlite::Result<Option<SchemaVersion>> {
    conn.execute_batch("SAVEPOINT look")?;
    let found = found(conn);
    // An error may have ended the transaction already: it is the one to tell.
    let released = conn.execute_batch("RELEASE look");
    let found = found?;
    released.map(|()| found)
}

/// The version of a file of baton's; `None` if the file belongs to another program.
fn found(conn: &Connection) -> rusqlite::Result<Option<SchemaVersion>> {
    let pragma = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let number = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = pragma("user_version")?;
    if pragma("application_id")? != APPLICATION {
        let objects = number("SELECT count(*) FROM sqlite_schema")?;
        return Ok((objects == 0 && version == 0).then_some(SchemaVersion::new(0, None)));
    }
    let lowest = match number(HAS_LOWEST)? {
        0 => None,
        _ => Some(number("SELECT lowest_compatible FROM baton_schema")?),
    };
    Ok(Some(SchemaVersion::new(version, lowest)))
}

/// Brings the file from this earlier version to the one known. Only under the write lock.
pub(super) fn migrate(conn: &Connection, from: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(from).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        conn.execute_batch(migration)?;
    }
    let lowest = "UPDATE baton_schema SET lowest_compatible = max(lowest_compatible, ?1)";
    conn.execute(lowest, [KNOWN.lowest_compatible])?;
    conn.pragma_update(None, "application_id", APPLICATION)?;
    conn.pragma_update(None, "user_version", KNOWN.version)
}
