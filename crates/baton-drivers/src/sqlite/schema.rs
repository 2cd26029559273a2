//! The schema and its versions.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::error::Refusal;

/// Marks a file as baton's own: `bato`, in SQLite's field for that.
const APPLICATION: i64 = 0x6261_746f;

/// One a version, from version 1. None is ever changed once it was released.
const MIGRATIONS: [&str; 3] = [
    include_str!("sql/0001-begin.sql"),
    include_str!("sql/0002-counters.sql"),
    include_str!("sql/0003-gaps.sql"),
];

/// The version that this program knows.
pub(super) const KNOWN: i64 = MIGRATIONS.len() as i64;

/// The version of the file; 0 if there is nothing in it yet. Refuses what is not ours, or is of a
/// later version, before anything is changed in it.
pub(super) fn version(conn: &Connection, path: &Path, waited: Duration) -> Result<i64, Refusal> {
    let found = at_one_moment(conn).map_err(|error| Refusal::of(path, waited, error))?;
    match found {
        Some(found) if found > KNOWN => {
            Err(Refusal::NewerSchema { path: path.to_owned(), found, known: KNOWN })
        }
        Some(found) => Ok(found),
        None => Err(Refusal::Foreign { path: path.to_owned() }),
    }
}

/// Another process may be making the file right now: all is read in one transaction.
fn at_one_moment(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    conn.execute_batch("SAVEPOINT look")?;
    let found = found(conn);
    // An error may have ended the transaction already: it is the one to tell.
    let released = conn.execute_batch("RELEASE look");
    let found = found?;
    released.map(|()| found)
}

/// The version of a file of ours; `None` if it is something else's.
fn found(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if number("application_id")? == APPLICATION {
        return number("user_version").map(Some);
    }
    let count = "SELECT count(*) FROM sqlite_schema";
    let objects: i64 = conn.query_row(count, [], |row| row.get(0))?;
    Ok((objects == 0 && number("user_version")? == 0).then_some(0))
}

/// Brings the file from this version to the one known. Only under the write lock.
pub(super) fn migrate(conn: &Connection, from: i64) -> rusqlite::Result<()> {
    if from == KNOWN {
        return Ok(());
    }
    let done = usize::try_from(from).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        conn.execute_batch(migration)?;
    }
    conn.pragma_update(None, "application_id", APPLICATION)?;
    conn.pragma_update(None, "user_version", KNOWN)
}
