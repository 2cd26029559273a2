//! What went wrong, told by SQLSTATE, severity and type; never by text.

use std::error::Error as _;

use baton_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

use super::config::{Pooler, PostgresConfig};
use super::{NAME, pooler};
use crate::refusal::Refusal;

/// Raised by our functions: a record is not one of ours.
const CORRUPT: &str = "BT001";

/// What to do about rights that are missing.
pub(super) const GRANTS: &str = "grant what docs/stores/postgres.md lists";

/// What went wrong in one step.
#[derive(Debug)]
pub(super) enum Fault {
    /// The server or the connection.
    Sql(Error),
    /// An answer that is not one of ours.
    Corrupt { record: String, detail: String },
    /// Something that a person must see to.
    Refused(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    /// For the caller.
    pub(super) fn told(self) -> StoreError {
        match self {
            Self::Corrupt { record, detail } => StoreError::Corrupt { record, detail },
            Self::Refused(detail) => StoreError::Refused { detail },
            Self::Sql(error) => match error.as_db_error() {
                Some(said) => by_code(said),
                None => StoreError::Unknown { detail: whole(&error) },
            },
        }
    }

    /// Is the connection of no more use, or the server behind it the wrong one?
    pub(super) fn spoils_the_link(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        let Some(said) = error.as_db_error() else { return true };
        is_the_end(said) || is_not_writable(said.code())
    }
}

/// Did the server end the session? Then nobody knows how far it got.
fn is_the_end(said: &DbError) -> bool {
    !matches!(said.parsed_severity(), Some(Severity::Error))
}

/// A standby, or a primary that became one.
fn is_not_writable(code: &SqlState) -> bool {
    let standby = [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE];
    standby.contains(code)
}

/// An error of the server's undid the statement, and with it the step.
fn by_code(said: &DbError) -> StoreError {
    let code = said.code();
    let detail = format!("{} (SQLSTATE {})", said.message(), code.code());
    if code.code() == CORRUPT {
        let detail = said.detail().unwrap_or_default().to_owned();
        return StoreError::Corrupt { record: said.message().to_owned(), detail };
    }
    if is_the_end(said) || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN {
        return StoreError::Unknown { detail };
    }
    if is_not_writable(code) {
        return StoreError::Unavailable { detail };
    }
    match code.code().get(..2) {
        // Lost a race, waited too long for a lock, was cancelled, ran into the disk's end.
        Some("40" | "55" | "57" | "58") => StoreError::Unavailable { detail },
        Some("53") => StoreError::Throttled { detail },
        Some("08" | "XX") => StoreError::Unknown { detail },
        _ => StoreError::Refused { detail: format!("{detail}; {}", remedy(code)) },
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
pub(super) fn refused(config: &PostgresConfig, place: String, error: &Error) -> Refusal {
    if let Some(detail) = tls_problem(error) {
        return Refusal::Tls { store: NAME, place, detail };
    }
    let detail = whole(error);
    let Some(code) = error.code() else {
        return Refusal::Unreachable { store: NAME, place, detail };
    };
    if code.code().starts_with("28") {
        return Refusal::Login { store: NAME, place, detail };
    }
    if *code == SqlState::INVALID_CATALOG_NAME {
        let what = format!("database {:?}", config.database.as_deref().unwrap_or_default());
        let remedy = "create it, or name another after the host".to_owned();
        return Refusal::Missing { store: NAME, place, what, remedy };
    }
    // A server takes what a session of ours is started with.
    let unknown = [SqlState::PROTOCOL_VIOLATION, SqlState::FEATURE_NOT_SUPPORTED];
    if config.pooler == Pooler::None && unknown.contains(code) {
        return pooler::refusal(&place, detail);
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        let what = format!("connect ({detail})");
        return Refusal::Rights { store: NAME, place, what, remedy: GRANTS.to_owned() };
    }
    Refusal::Unreachable { store: NAME, place, detail }
}

/// Met while the store was in use already, before anything was sent.
pub(super) fn in_use(refusal: &Refusal) -> StoreError {
    let detail = refusal.to_string();
    match refusal {
        Refusal::Unreachable { .. } | Refusal::Unfit { .. } => StoreError::Unavailable { detail },
        _ => StoreError::Refused { detail },
    }
}

/// What TLS has against it, if it is that.
fn tls_problem(error: &Error) -> Option<String> {
    let mut cause = error.source();
    while let Some(found) = cause {
        let inner = found.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(tls) = tls.or_else(|| found.downcast_ref::<rustls::Error>()) {
            return Some(tls.to_string());
        }
        cause = found.source();
    }
    None
}

/// The error and what caused it, in one line.
pub(super) fn whole(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", said.message(), said.code().code());
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
