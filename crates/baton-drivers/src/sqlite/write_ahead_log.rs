//! The log that commits are appended to, and when it is moved into the database.
//!
//! By itself SQLite moves the log within the commit that makes it long, and waits for the disk; a
//! beat that happens to be that commit takes ten times as long as others. So the thread that has
//! the connection does it, once the answers are given.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, FileControl, MAIN_DB};

use super::busy_handler;

/// A log of this many pages is long: SQLite's own measure.
const LONG_PAGES: c_int = 1_000;

/// The log is cut to this once all of it is in the database, in bytes.
const KEPT_BYTES: i64 = 4 << 20;

/// Between two tries at something that another process is at.
const PAUSE: Duration = Duration::from_millis(2);

/// Switches a connection to the log. SQLite does not wait for its turn at this.
pub(super) fn switch_on(conn: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        let done = conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        let code = done.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
        if code != Some(ErrorCode::DatabaseBusy) || waited >= busy_timeout {
            done?;
            break;
        }
        busy_handler::wait(PAUSE);
        waited += PAUSE;
    }
    // By itself SQLite removes the log when the last connection closes, by its name: if the file
    // was replaced in that moment, it is the log of the new one. So the log is emptied, and stays.
    conn.file_control(Some(MAIN_DB), FileControl::PersistWal(&mut 1))?;
    conn.pragma_update(None, "journal_size_limit", KEPT_BYTES)
}

/// How long the log was after the last commit of a connection.
pub(super) struct WriteAheadLog {
    pages: Arc<AtomicI32>,
}

impl WriteAheadLog {
    /// From now on the commits of the connection leave the log where it is.
    pub(super) fn of(conn: &mut Connection) -> rusqlite::Result<Self> {
        let pages = Arc::new(AtomicI32::new(0));
        let noted = pages.clone();
        conn.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            noted.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self { pages })
    }

    /// Moves a long log into the database, as far as readers allow. What fails is left to the next
    /// commit.
    pub(super) fn shorten(&self, conn: &Connection) {
        if self.pages.load(Ordering::Relaxed) >= LONG_PAGES
            && let Ok((all, moved)) = conn.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE)
            && all == moved
        {
            self.pages.store(0, Ordering::Relaxed);
        }
    }
}
