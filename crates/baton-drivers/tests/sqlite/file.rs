//! The database file of a test, and what can be done to it behind the store's back.

use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_drivers::sqlite::SqliteConfig;
use baton_testbed::subject::Fixture;
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder of its own, gone when the test is over.
pub struct File {
    folder: TempDir,
}

impl File {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        Self { folder: folder.expect("the build has a folder for tests") }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self) -> PathBuf {
        self.folder().join("baton.db")
    }

    /// A file beside the database, by what its name ends with.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        self.folder().join(format!("baton.db{suffix}"))
    }

    pub fn config(&self) -> SqliteConfig {
        SqliteConfig::at(self.path())
    }

    /// A connection that is not the store's.
    pub fn connect(&self) -> Connection {
        let conn = Connection::open(self.path()).expect("the file is a database");
        conn.busy_timeout(std::time::Duration::from_secs(5)).expect("it is a good timeout");
        conn
    }

    /// Runs SQL, and says what went wrong.
    pub fn sql(&self, sql: &str) -> Result<(), String> {
        self.connect().execute_batch(sql).map_err(|error| error.to_string())
    }

    /// One number out of the database.
    pub fn number(&self, sql: &str) -> i64 {
        self.connect().query_row(sql, [], |row| row.get(0)).expect("it is a number")
    }

    /// How many transactions wrote to the file since the log began, which no store has emptied yet.
    pub fn commits(&self) -> usize {
        let log = fs::read(self.beside("-wal")).expect("a store has the file open");
        let (head, frames) = log.split_at(32);
        let page = u32::from_be_bytes(head[8..12].try_into().expect("they are four bytes"));
        // The last frame of a transaction says how many pages the database has then, others none.
        let frames = frames.chunks_exact(24 + page as usize);
        frames.filter(|frame| frame[4..8] != [0; 4]).count()
    }

    /// Keeps a copy, as a backup would.
    pub fn keep_copy(&self) -> Result<(), String> {
        let kept = self.folder().join("kept.db");
        // There may be an earlier one.
        let _ = fs::remove_file(&kept);
        self.sql(&format!("VACUUM INTO '{}'", kept.display()))
    }

    /// Puts the copy back as the documentation says.
    pub fn restore_copy(&self) -> Result<(), String> {
        let incoming = self.folder().join("incoming.db");
        let done = fs::copy(self.folder().join("kept.db"), &incoming).and_then(|_| {
            for suffix in ["-wal", "-shm"] {
                // Gone already if no connection has the file open.
                let _ = fs::remove_file(self.beside(suffix));
            }
            fs::rename(&incoming, self.path())
        });
        done.map_err(|error| error.to_string())
    }

    /// Overwrites the lease with something that is none.
    pub fn corrupt(&self, namespace: &Namespace) -> Result<(), String> {
        self.sql(&format!(
            "UPDATE baton_locks SET nonce_boot = 'not a boot' WHERE lock_key = '{namespace}'"
        ))
    }
}

#[async_trait]
impl Fixture for File {
    fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.url())
    }

    /// There is no server; what a handle keeps in memory goes when the last one is dropped.
    async fn restart(&self) -> Result<bool, String> {
        self.sql("PRAGMA wal_checkpoint(TRUNCATE)").map(|()| true)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        self.keep_copy().map(|()| true)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        self.restore_copy()
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        self.corrupt(namespace).map(|()| true)
    }
}
