//! Opening the file, and telling whether it is still the one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::boots::Boots;
use super::config::SqliteConfig;
use super::error::SqliteOpenError;
use super::file_identity::{FileId, beside, is_not_planted, prepare};
use super::lineage::{self, NotedLineage};
use super::machine::Machine;
use super::write_ahead_log::WriteAheadLog;
use super::{busy_handler, locks, schema, write_ahead_log};

/// Prepared statements kept; there are fewer.
const STATEMENTS: usize = 64;

/// The tries that a path gets to name the same file before and after it was opened.
const TRIES: u32 = 20;

/// Between two tries at something that another process is at.
const PAUSE: Duration = Duration::from_millis(2);

/// A connection, and which file it is on.
pub(super) struct FileConnection {
    pub(super) conn: Connection,
    pub(super) config: SqliteConfig,
    pub(super) machine: Machine,
    pub(super) file: FileId,
    /// The folder beside it, with the process locks and the noted lineage.
    pub(super) boots: Boots,
    log: WriteAheadLog,
    syncs_fully: bool,
}

impl FileConnection {
    /// Opens the file, and creates it if `create` says so and it is not there.
    pub(super) fn open(
        config: &SqliteConfig,
        machine: &Machine,
        create: bool,
        least: u64,
    ) -> Result<Self, SqliteOpenError> {
        if create {
            prepare(&config.path)?;
        }
        let (mut conn, file) = connect(config, create)?;
        let log = WriteAheadLog::of(&mut conn).map_err(|error| config.broken(error))?;
        let boots = Boots::of(&config.path)?;
        let made = boots.make().map(drop);
        made.map_err(|error| SqliteOpenError::Boots { path: boots.path.clone(), error })?;
        let (config, machine) = (config.clone(), machine.clone());
        let mut connection = Self { conn, config, machine, file, boots, log, syncs_fully: false };
        lineage::settle(&mut connection, least)?;
        let swept = locks::sweep(&connection.conn, &connection.boots);
        swept.map_err(|error| connection.config.broken(error))?;
        Ok(connection)
    }

    /// Does the path still name the file that is open?
    pub(super) fn is_current(&self) -> Result<bool, SqliteOpenError> {
        Ok(FileId::of_present(&self.config.path)? == self.file)
    }

    /// Moves a log that has become long into the database.
    pub(super) fn shorten_log(&self) {
        self.log.shorten(&self.conn);
    }

    /// From now on, do commits wait until they outlast a loss of power? Not inside a transaction.
    pub(super) fn sync_fully(&mut self, fully: bool) -> rusqlite::Result<()> {
        if fully != self.syncs_fully {
            let level = if fully { "FULL" } else { "NORMAL" };
            self.conn.pragma_update(None, "synchronous", level)?;
            self.syncs_fully = fully;
        }
        Ok(())
    }
}

/// SQLite opens by path; that the path named one file before and after tells which.
fn connect(config: &SqliteConfig, create: bool) -> Result<(Connection, FileId), SqliteOpenError> {
    let path = config.path.as_path();
    for _ in 0..TRIES {
        is_not_planted(path)?;
        let before = FileId::at(path)?;
        if before.is_none() && !create {
            return Err(SqliteOpenError::Missing { path: path.to_owned() });
        }
        if let Some(file) = before {
            refuse_stale_log(path, file)?;
        }
        let conn = tuned(config, create)?;
        match FileId::at(path)? {
            Some(file) if before == Some(file) => return Ok((conn, file)),
            _ => busy_handler::wait(PAUSE),
        }
    }
    Err(SqliteOpenError::Busy { path: path.to_owned(), waited: PAUSE * TRIES })
}

/// Refuses the file if the log that lies beside it is another one's.
pub(super) fn refuse_stale_log(path: &Path, file: FileId) -> Result<(), SqliteOpenError> {
    let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
    let log = fs::metadata(beside(&real, "-wal")).is_ok_and(|log| log.len() > 0);
    let noted = Boots::of(path).ok().and_then(|boots| NotedLineage::read(&boots));
    match log && noted.is_some_and(|noted| !noted.file.is_same_on_disk(&file)) {
        true => Err(SqliteOpenError::StaleLog { path: path.to_owned() }),
        false => Ok(()),
    }
}

fn tuned(config: &SqliteConfig, create: bool) -> Result<Connection, SqliteOpenError> {
    let broken = |error| config.broken(error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let conn = config.connect(&config.path, flags)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    if conn.is_readonly("main").map_err(broken)? {
        return Err(SqliteOpenError::ReadOnly { path: config.path.clone() });
    }
    schema::version(&conn, config)?;
    write_ahead_log::switch_on(&conn, config.busy_timeout).map_err(broken)?;
    conn.pragma_update(None, "synchronous", "NORMAL").map_err(broken)?;
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    use baton_store::clock::SystemClock;

    use super::*;

    #[test]
    fn the_last_to_close_empties_the_log_and_removes_nothing_by_name() {
        let folder = tempfile::tempdir().expect("there is room for tests");
        let config = SqliteConfig::at(folder.path().join("baton.db"));
        let machine = Machine::here(Arc::new(SystemClock)).expect("this is Linux");
        let connection = FileConnection::open(&config, &machine, true, 0).expect("it can be made");
        let looked_at = |suffix| {
            let found = fs::metadata(beside(&config.path, suffix)).expect("it is there");
            (found.ino(), found.len())
        };
        let ((log, length), (index, _)) = (looked_at("-wal"), looked_at("-shm"));
        assert!(length > 0, "the schema is in it");
        drop(connection);
        assert_eq!(looked_at("-wal"), (log, 0));
        assert_eq!(looked_at("-shm").0, index);
    }
}
