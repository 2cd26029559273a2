//! What went wrong: errors of opening for people, and those of one call by what they mean for it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use baton_store::StoreError;
use rusqlite::ErrorCode;

use crate::driver::{DriverError, IncompatibleSchema};
use crate::sweep::CLOCK_WENT_BACK;

/// Why a file cannot be used as a store. One line each, and it says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum SqliteOpenError {
    #[error("sqlite:// names no file; write sqlite://baton.db or sqlite:///var/lib/baton.db")]
    EmptyPath,
    #[error("sqlite://:memory: would be seen by one handle alone; use memory:// or name a file")]
    InMemory,
    #[error(
        "sqlite:// names a file, and this begins like a login; write ./ before a name with '@' \
         or ':'"
    )]
    Login,
    #[error("a sqlite option is unknown; the only option is busy_timeout_ms")]
    UnknownOption,
    #[error("busy_timeout_ms is {value:?}; give whole milliseconds, at least 1")]
    BusyTimeout { value: String },
    #[error("{0} is a folder; name a file in it, such as {0}/baton.db", .path.display())]
    IsFolder { path: PathBuf },
    #[error("{} cannot be created ({error}); create the folder or choose another", .path.display())]
    NoFolder { path: PathBuf, error: io::Error },
    #[error("{} is not there; it was moved or removed: put it back, or restart", .path.display())]
    Missing { path: PathBuf },
    #[error("{} cannot be read ({error}); choose one that this user may use", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} may not be written by this user; give it write permission", .path.display())]
    NoPermission { path: PathBuf },
    #[error("{} is read-only; choose a place that can be written", .path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "{} is on {filesystem}; file locks and shared memory do not work across machines there; \
         choose a folder on a local disk", .path.display()
    )]
    Remote { path: PathBuf, filesystem: &'static str },
    #[error("{} is not a SQLite database; choose another file name", .path.display())]
    NotADatabase { path: PathBuf },
    #[error(
        "{} is a SQLite database of something else; baton needs a file of its own", .path.display()
    )]
    Foreign { path: PathBuf },
    #[error("{} {reason}", .path.display())]
    NewerSchema { path: PathBuf, reason: IncompatibleSchema },
    #[error(
        "{} has schema version {found}, and this program reads {known}; baton run, serve and \
         doctor bring it up to date", .path.display()
    )]
    OlderSchema { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{path}-wal lies beside {path} without {path}-shm, as after a copy; baton run, serve and \
         doctor recover the log; commands that only read do not", path = .path.display()
    )]
    NoIndex { path: PathBuf },
    /// The file was replaced, and the log of the one before is still beside it. SQLite would mix
    /// the two.
    #[error(
        "{path} was replaced, but {path}-wal belongs to the previous file; if the new one came \
         alone, stop every process and remove {path}-wal and {path}-shm; if the log came with it, \
         remove {path}-boots/lineage", path = .path.display()
    )]
    StaleLog { path: PathBuf },
    #[error("the machine's boot id cannot be read ({error}); the sqlite store needs Linux's /proc")]
    NoBootId { error: io::Error },
    #[error(
        "this process is in a time namespace of its own, and its clock is not the machine's; \
         start it in the machine's time namespace"
    )]
    OwnTime,
    #[error("{} stayed busy for {} ms; try again", .path.display(), .waited.as_millis())]
    Busy { path: PathBuf, waited: Duration },
    #[error("{} cannot be written ({error}); check the folder", .path.display())]
    Write { path: PathBuf, error: io::Error },
    /// No other user may decide what is in the folder of the process locks.
    #[error(
        "{} cannot hold the process locks ({error}); find out which user created it and remove it \
         while no node runs, or put the database into a folder of its own", .path.display()
    )]
    Boots { path: PathBuf, error: io::Error },
    /// A name that all users may give away leads to another file.
    #[error(
        "{} is a link that user {owner} made in a folder that all users may write in; name the \
         file itself", .path.display()
    )]
    Planted { path: PathBuf, owner: u32 },
    #[error("no thread for the store can be started ({error}); raise the limit on threads")]
    NoThread { error: io::Error },
    #[error("{} cannot be written ({error}); is its disk full? Make room", .path.display())]
    NoRoom { path: PathBuf, error: rusqlite::Error },
    #[error("{} cannot be opened ({error})", .path.display())]
    Database { path: PathBuf, error: rusqlite::Error },
}

impl SqliteOpenError {
    /// The same, met while the store was in use already. Nothing was written.
    pub(super) fn in_use(&self) -> StoreError {
        let detail = self.to_string();
        match self {
            Self::Missing { .. } | Self::Busy { .. } => StoreError::Unavailable { detail },
            _ => StoreError::Refused { detail },
        }
    }
}

/// Nothing was written: the statement was undone.
impl From<rusqlite::Error> for DriverError {
    fn from(error: rusqlite::Error) -> Self {
        undone(&error).into()
    }
}

pub(super) fn undone(error: &rusqlite::Error) -> StoreError {
    let detail = error.to_string();
    if let rusqlite::Error::StatementChangedRows(_) = error {
        return StoreError::Unavailable { detail: CLOCK_WENT_BACK.to_owned() };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Unavailable {
            detail: format!("other processes kept the file busy: {detail}"),
        },
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::FileLockingProtocolFailed,
        ) => StoreError::Unavailable { detail },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
            record: "the database file".to_owned(),
            detail: format!("{detail}; stop every process and restore a backup"),
        },
        _ => StoreError::Refused { detail: format!("{detail}; check the file's permissions") },
    }
}

/// For the caller of a write whose commit failed.
pub(super) fn uncommitted(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        // A record that found no room is incomplete, and so is the transaction.
        Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::ReadOnly) => undone(error),
        _ => StoreError::Unknown { detail: format!("the commit failed: {error}") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
    }

    #[test]
    fn a_failed_step_says_what_it_means_for_the_write() {
        use baton_core::protocol::Failure::{NotDone, Rejected, Unknown};
        let (busy, full, io, corrupt, read_only) = (5, 13, 10, 11, 8);
        let steps =
            [busy, full, io, corrupt, read_only].map(|code| undone(&failed(code)).failure());
        assert_eq!(steps, [NotDone, NotDone, NotDone, Rejected, Rejected]);
        let commits = [busy, full, io].map(|code| uncommitted(&failed(code)).failure());
        assert_eq!(commits, [NotDone, NotDone, Unknown]);
    }
}
