//! Which file, and how patiently.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::busy_handler;
use super::error::SqliteOpenError;
use crate::shown::looks_like_login;
use crate::url_parts;

/// How long a writer waits for the others, if nothing else is said.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// What a handle needs to know. Plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteConfig {
    /// The file. It is created if it is not there, and so are the folders above it.
    pub path: PathBuf,
    /// How long a writer waits for other processes before it gives up with nothing written.
    pub busy_timeout: Duration,
}

impl SqliteConfig {
    /// This file, with the defaults.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), busy_timeout: BUSY_TIMEOUT }
    }

    /// What follows `sqlite://` in a URL: a path, taken as it stands, and perhaps
    /// `?busy_timeout_ms=…`.
    pub fn parse(location: &str) -> Result<Self, SqliteOpenError> {
        let (path, options) = location.split_once('?').unwrap_or((location, ""));
        if path.is_empty() {
            return Err(SqliteOpenError::EmptyPath);
        }
        if path.starts_with(":memory:") {
            return Err(SqliteOpenError::InMemory);
        }
        if looks_like_login(location) {
            return Err(SqliteOpenError::Login);
        }
        let mut config = Self::at(path);
        for (name, value) in url_parts::options(options) {
            if name != "busy_timeout_ms" {
                return Err(SqliteOpenError::UnknownOption);
            }
            let value = value.unwrap_or_default();
            let ms = value.parse::<u32>().ok().filter(|ms| *ms > 0);
            let wrong = || SqliteOpenError::BusyTimeout { value: value.to_owned() };
            config.busy_timeout = Duration::from_millis(ms.ok_or_else(wrong)?.into());
        }
        Ok(config)
    }

    /// The same file, whatever the working directory becomes.
    pub(super) fn absolute(self) -> Result<Self, SqliteOpenError> {
        match std::path::absolute(&self.path) {
            Ok(path) => Ok(Self { path, ..self }),
            Err(error) => Err(SqliteOpenError::Unreadable { path: self.path, error }),
        }
    }

    /// A connection to the file, or to what this other path names, which waits for other processes.
    pub(super) fn connect(
        &self,
        path: &Path,
        flags: OpenFlags,
    ) -> Result<Connection, SqliteOpenError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut conn = Connection::open_with_flags(path, flags).map_err(|it| self.broken(it))?;
        let waiting = conn.busy_handler(Some(busy_handler::within(self.busy_timeout)));
        waiting.map(|()| conn).map_err(|error| self.broken(error))
    }

    /// Why the file could not be opened.
    pub(super) fn broken(&self, error: rusqlite::Error) -> SqliteOpenError {
        let (path, waited) = (self.path.clone(), self.busy_timeout);
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => SqliteOpenError::NotADatabase { path },
            Some(ErrorCode::ReadOnly) => SqliteOpenError::ReadOnly { path },
            Some(ErrorCode::PermissionDenied) => SqliteOpenError::NoPermission { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                SqliteOpenError::Busy { path, waited }
            }
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
                SqliteOpenError::NoRoom { path, error }
            }
            _ => SqliteOpenError::Database { path, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_and_options() {
        let read = |text| SqliteConfig::parse(text).expect("it is a good location");
        assert_eq!(read("baton.db"), SqliteConfig::at("baton.db"));
        assert_eq!(read("/var/lib/a b.db"), SqliteConfig::at("/var/lib/a b.db"));
        let patient = read("/x.db?busy_timeout_ms=2500");
        assert_eq!(patient.busy_timeout, Duration::from_millis(2_500));
    }

    #[test]
    fn what_is_wrong_with_a_location_is_said() {
        let cases = [
            ("", "sqlite:// names no file; write sqlite://baton.db or sqlite:///var/lib/baton.db"),
            (":memory:", "sqlite://:memory: would be seen by one handle alone; use memory://"),
            ("x.db?mode=ro", "a sqlite option is unknown; the only option is busy_timeout_ms"),
            ("me:hush@db/x", "sqlite:// names a file, and this begins like a login; write ./ "),
            ("x.db?busy_timeout_ms=0", "busy_timeout_ms is \"0\"; give whole milliseconds"),
        ];
        for (given, wanted) in cases {
            let error = SqliteConfig::parse(given).expect_err("must be refused");
            let message = error.to_string();
            assert!(message.starts_with(wanted), "{given} gave {message:?}");
        }
    }
}
