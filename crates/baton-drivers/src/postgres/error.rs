//! Errors of the client library, classified by SQLSTATE, severity and type; never by text.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use super::config::{Pooler, PostgresConfig};
use super::{NAME, pooler};
use crate::OpenError;
use crate::driver::DriverError;
use crate::tls::tls_error;

/// Raised by our functions: a record is not one of ours.
const CORRUPT: &str = "BT001";

/// What to do about rights that are missing.
pub(super) const GRANTS: &str = "grant what docs/stores/postgres.md lists";

impl From<Error> for DriverError {
    fn from(error: Error) -> Self {
        match error.as_db_error() {
            Some(reported) => by_code(reported),
            None => Self::unknown(full_message(&error)).breaking_connection(),
        }
    }
}

/// Did the server end the session? Then it is unknown how far the statement got.
fn ends_session(reported: &DbError) -> bool {
    !matches!(reported.parsed_severity(), Some(Severity::Error))
}

/// A standby, or a primary that became one.
fn is_not_writable(code: &SqlState) -> bool {
    let standby = [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE];
    standby.contains(code)
}

/// An error of the server's undid the statement, and with it the whole call.
fn by_code(reported: &DbError) -> DriverError {
    let code = reported.code();
    let detail = format!("{} (SQLSTATE {})", reported.message(), code.code());
    if code.code() == CORRUPT {
        return DriverError::corrupt(reported.message(), reported.detail().unwrap_or_default());
    }
    if ends_session(reported) {
        return DriverError::unknown(detail).breaking_connection();
    }
    if is_not_writable(code) {
        return DriverError::unavailable(detail).breaking_connection();
    }
    match code.code().get(..2) {
        _ if *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN => DriverError::unknown(detail),
        // Lost a race, waited too long for a lock, was cancelled, ran into the disk's end.
        Some("40" | "55" | "57" | "58") => DriverError::unavailable(detail),
        Some("53") => DriverError::throttled(detail),
        Some("08" | "XX") => DriverError::unknown(detail),
        _ => DriverError::refused(format!("{detail}; {}", remedy(code))),
    }
}

fn remedy(code: &SqlState) -> &'static str {
    let missing =
        [SqlState::UNDEFINED_FUNCTION, SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    match code {
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => GRANTS,
        code if missing.contains(code) => "open the store once as the owner of its tables",
        _ => "see the server's log",
    }
}

/// Why a server could not be connected to.
pub(super) fn opening(config: &PostgresConfig, place: String, error: &Error) -> OpenError {
    if let Some(problem) = tls_error(error) {
        return OpenError::Tls { store: NAME, place, detail: problem.to_string() };
    }
    let detail = full_message(error);
    let Some(code) = error.code() else {
        return OpenError::Unreachable { store: NAME, place, detail };
    };
    if code.code().starts_with("28") {
        return OpenError::Login { store: NAME, place, detail };
    }
    if *code == SqlState::INVALID_CATALOG_NAME {
        let what = format!("database {:?}", config.address.path);
        let remedy = "create it, or name another after the host".to_owned();
        return OpenError::Missing { store: NAME, place, what, remedy };
    }
    // A server takes what a session of ours is started with.
    let unknown = [SqlState::PROTOCOL_VIOLATION, SqlState::FEATURE_NOT_SUPPORTED];
    if config.pooler == Pooler::None && unknown.contains(code) {
        return pooler::error(&place, detail);
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        let what = format!("connect ({detail})");
        return OpenError::Rights { store: NAME, place, what, remedy: GRANTS.to_owned() };
    }
    OpenError::Unreachable { store: NAME, place, detail }
}

/// The error and what caused it, in one line.
pub(super) fn full_message(error: &Error) -> String {
    if let Some(reported) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", reported.message(), reported.code().code());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let more = found.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = found.source();
    }
    text.replace('\n', " ")
}
