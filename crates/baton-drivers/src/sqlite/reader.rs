//! Looking at the file without making or changing anything in it or beside it.
//!
//! ```text
//!   app.db alone, or an empty log     no process has it open: read as it is, without locks
//!   app.db, app.db-wal, app.db-shm    read only, with the locks that nodes heed
//!   app.db, a log, no index           a copy: the index would have to be made
//! ```
//!
//! Every call opens the file anew, so `watch` sees a file that was put in its place.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::{Lineage, Namespace};
use baton_store::clock::SystemClock;
use baton_store::{
    Answer, Backend, Call, Contract, Declaration, Election, Finding, Operation, StoreError,
};
use rusqlite::{Connection, OpenFlags};

use super::boots::Boots;
use super::config::SqliteConfig;
use super::connect::refuse_stale_log;
use super::context::CallContext;
use super::error::SqliteOpenError;
use super::file_identity::{FileId, beside, is_not_planted};
use super::machine::Machine;
use super::{lineage, schema, store};
use crate::driver::{DriverError, SchemaState};
use crate::reader::only_reads;

/// Between two looks the first node may start.
const TRIES: u32 = 20;

/// A handle that only looks. A call blocks its thread for as long as the reading takes.
pub(crate) struct SqliteReader {
    config: SqliteConfig,
    machine: Machine,
}

impl SqliteReader {
    /// Looks whether the file is there and one of baton's.
    pub(crate) fn open(config: SqliteConfig) -> Result<Self, SqliteOpenError> {
        let machine = Machine::here(Arc::new(SystemClock))?;
        let reader = Self { config: config.absolute()?, machine };
        reader.look(|_| Ok(()))?;
        Ok(reader)
    }

    /// Does something with a connection; `None` if there is nothing in the file yet.
    fn look<T>(
        &self,
        read: impl Fn(&Connection) -> Result<T, SqliteOpenError>,
    ) -> Result<Option<T>, SqliteOpenError> {
        look_at(&self.config, |conn| match schema::version(conn, &self.config)? {
            (0, _) => Ok(None),
            (_, SchemaState::Usable) => read(conn).map(Some),
            (found, SchemaState::Older) => {
                let (path, known) = (self.config.path.clone(), schema::KNOWN.version);
                Err(SqliteOpenError::OlderSchema { path, found, known })
            }
        })
    }

    fn perform(&self, namespace: &Namespace, call: &Call) -> Result<Answer, StoreError> {
        let boots = Boots::of(&self.config.path).map_err(|error| error.in_use())?;
        let perform = |conn: &Connection| -> Result<Answer, DriverError> {
            conn.execute_batch("BEGIN")?;
            let lineage = Lineage(lineage::current(conn)?);
            let (at, machine, boots) = (self.machine.step_time(), &self.machine, &boots);
            let context = CallContext { conn, namespace, at, machine, lineage, boots };
            context.perform(call)
        };
        let done = self.look(|conn| Ok(perform(conn))).map_err(|error| error.in_use())?;
        let nothing = || call.answer_when_empty().ok_or_else(only_reads);
        done.map_or_else(nothing, |answer| answer.map_err(DriverError::into_store_error))
    }
}

/// Does something with a connection to the database, whatever is in it.
pub(super) fn look_at<T>(
    config: &SqliteConfig,
    read: impl Fn(&Connection) -> Result<T, SqliteOpenError>,
) -> Result<T, SqliteOpenError> {
    let path = config.path.as_path();
    for _ in 0..TRIES {
        let logged = has_log(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let conn = match logged {
            true => config.connect(path, flags),
            false => config.connect(&as_it_is(path), flags | OpenFlags::SQLITE_OPEN_URI),
        };
        let done = conn.and_then(|conn| read(&conn));
        // Read without locks, and meanwhile a node has begun to write: it may be half of one
        // state and half of another.
        if !logged && has_log(path)? {
            continue;
        }
        return done;
    }
    Err(SqliteOpenError::Busy { path: path.to_owned(), waited: config.busy_timeout })
}

/// Do a log and its index lie beside the file, as nodes leave them and have them? If there is
/// neither a log with something in it nor an index, no process writes one.
fn has_log(path: &Path) -> Result<bool, SqliteOpenError> {
    is_not_planted(path)?;
    refuse_stale_log(path, FileId::of_present(path)?)?;
    let unreadable = |error| SqliteOpenError::Unreadable { path: path.to_owned(), error };
    let real = fs::canonicalize(path).map_err(unreadable)?;
    let log = fs::metadata(beside(&real, "-wal")).map(|log| log.len());
    match (log, beside(&real, "-shm").exists()) {
        (Ok(_), true) => Ok(true),
        (Ok(1..), false) => Err(SqliteOpenError::NoIndex { path: path.to_owned() }),
        _ => Ok(false),
    }
}

/// The URI by which SQLite reads a file as it is, and neither locks it nor makes anything.
fn as_it_is(path: &Path) -> PathBuf {
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").into_bytes()),
            byte => uri.push(*byte),
        }
    }
    uri.extend(b"?immutable=1");
    PathBuf::from(OsString::from_vec(uri))
}

#[async_trait]
impl Backend for SqliteReader {
    fn declaration(&self) -> Declaration {
        store::declaration()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        match Election::check_call(&store::declaration(), &call)? {
            Some(answer) => Ok(answer),
            None => self.perform(namespace, &call),
        }
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        Ok(Vec::new())
    }
}
