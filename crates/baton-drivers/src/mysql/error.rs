//! Errors of the client library, classified by codes and types, never by text.

use std::time::Duration;

use baton_core::ids::Namespace;
use mysql_async::{Error, IoError, ServerError};

use super::NAME;
use crate::OpenError;
use crate::driver::DriverError;
use crate::tls::tls_error;

/// Why a statement has no answer.
#[derive(Debug)]
pub(super) enum QueryError {
    /// No host gave a connection; the last error, unless the time was up.
    NoConnection(Option<Error>),
    /// The statement is too long, and was not sent.
    TooLong { bytes: u64, most: u64 },
    /// The statement was sent, and this came back.
    Call(Error),
    /// The statement was sent, and nothing came back in this time.
    Late(Duration),
}

/// What an error of the server says about the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorClass {
    /// The procedure found a record that is not ours.
    Corrupt,
    /// Certainly rolled back; trying again may help.
    RolledBack,
    /// Certainly rolled back, because this server takes no writes.
    ReadOnly,
    /// Not let in for now.
    TooMany,
    /// Killed, or failed while it was being committed: it may stand.
    MayStand,
    /// A person must act.
    Rights,
    Schema,
    BinlogFormat,
    Refused,
}

fn class(error: &ServerError) -> ErrorClass {
    if error.state == "BT001" || error.state == "BT002" {
        return ErrorClass::Corrupt;
    }
    match error.code {
        // Lock wait timeout, deadlock, a row or table that changed meanwhile, out of memory, locks
        // or room, not ready (Galera), idle for too long, rolled back by group replication.
        1205 | 1213 | 1020 | 1021 | 1037 | 1041 | 1047 | 1114 | 1206 | 1412 | 1615 | 3101
        | 4031 => ErrorClass::RolledBack,
        1290 | 1792 | 1836 | 3100 => ErrorClass::ReadOnly,
        1040 | 1203 | 1226 => ErrorClass::TooMany,
        // Shutdown, errors of a commit, a killed statement or connection, a statement's time limit,
        // and the server's own errors with the connection.
        1152
        | 1158..=1161
        | 1184
        | 1053
        | 1180
        | 1181
        | 1196
        | 1197
        | 1317
        | 1598
        | 1927
        | 1969
        | 3024 => ErrorClass::MayStand,
        1044 | 1045 | 1142 | 1143 | 1227 | 1370 | 1410 | 1698 | 3118 => ErrorClass::Rights,
        1046 | 1049 | 1054 | 1146 | 1305 | 1318 | 1364 => ErrorClass::Schema,
        1665 => ErrorClass::BinlogFormat,
        _ => ErrorClass::Refused,
    }
}

impl QueryError {
    fn server(&self) -> Option<&ServerError> {
        match self {
            Self::Call(Error::Server(error)) | Self::NoConnection(Some(Error::Server(error))) => {
                Some(error)
            }
            _ => None,
        }
    }

    /// The server's code, if it was the server that spoke.
    pub(super) fn code(&self) -> Option<u16> {
        self.server().map(|error| error.code)
    }

    /// What the server said of the step, if it was the server that spoke.
    pub(super) fn class(&self) -> Option<ErrorClass> {
        self.server().map(class)
    }

    /// A killed statement leaves its transaction open: only what a procedure signalled by itself is
    /// certain to have left nothing behind.
    pub(super) fn breaks_connection(&self) -> bool {
        self.class() != Some(ErrorClass::Corrupt)
    }

    /// For the caller.
    pub(super) fn into_driver_error(
        self,
        place: &str,
        namespace: Option<&Namespace>,
    ) -> DriverError {
        let detail = format!("{NAME} at {place}: {}", self.detail());
        let Some(error) = self.server() else {
            return match self {
                Self::NoConnection(_) => DriverError::unavailable(detail),
                Self::TooLong { .. } => DriverError::refused(format!(
                    "{detail}; raise max_allowed_packet, or write less at once"
                )),
                Self::Call(_) | Self::Late(_) => DriverError::unknown(detail),
            };
        };
        let connecting = matches!(self, Self::NoConnection(_));
        match class(error) {
            ErrorClass::TooMany => DriverError::throttled(detail),
            ErrorClass::Rights | ErrorClass::Schema if connecting => DriverError::refused(detail),
            _ if connecting => DriverError::unavailable(detail),
            ErrorClass::Corrupt => {
                let record = match (error.state.as_str(), namespace) {
                    ("BT001", Some(namespace)) => lease_name(namespace),
                    _ => "the meta table".to_owned(),
                };
                DriverError::corrupt(record, one_line(&error.message))
            }
            ErrorClass::RolledBack | ErrorClass::ReadOnly => DriverError::unavailable(detail),
            ErrorClass::MayStand => DriverError::unknown(detail),
            ErrorClass::Rights => DriverError::refused(format!("{detail}; {GRANTS}")),
            ErrorClass::Schema => DriverError::refused(format!(
                "{detail}; open the store again, so that its schema is looked at"
            )),
            ErrorClass::BinlogFormat => DriverError::refused(format!("{detail}; {BINLOG_FORMAT}")),
            ErrorClass::Refused => DriverError::refused(detail),
        }
    }

    /// What happened, in one line.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::NoConnection(None) => "no connection in time".to_owned(),
            Self::TooLong { bytes, most } => {
                format!("the statement has {bytes} bytes, and max_allowed_packet is {most}")
            }
            Self::Late(waited) => format!("no answer within {} ms", waited.as_millis()),
            Self::NoConnection(Some(error)) | Self::Call(error) => match error {
                Error::Server(error) => one_line(&format!("{} ({})", error.message, error.code)),
                Error::Io(IoError::Io(error)) => one_line(&error.to_string()),
                Error::Driver(mysql_async::DriverError::ConnectionClosed) => {
                    "the connection closed".to_owned()
                }
                error => one_line(&error.to_string()),
            },
        }
    }

    /// For opening the store.
    pub(super) fn into_open_error(self, place: String, database: &str) -> OpenError {
        let store = NAME;
        let detail = self.detail();
        let connecting = matches!(self, Self::NoConnection(_));
        if matches!(&self, Self::NoConnection(Some(error)) if is_of_tls(error)) {
            return OpenError::Tls { store, place, detail };
        }
        match self.server().map(|error| (error.code, class(error))) {
            Some((1049, _)) => OpenError::Missing {
                store,
                place,
                what: format!("the database {database}"),
                remedy: format!("run CREATE DATABASE `{database}`"),
            },
            Some((1044, _)) => OpenError::Rights {
                store,
                place,
                what: format!("use the database {database} ({detail})"),
                remedy: GRANTS.to_owned(),
            },
            Some((_, ErrorClass::Rights)) if connecting => {
                OpenError::Login { store, place, detail }
            }
            Some((_, ErrorClass::Rights)) => OpenError::Rights {
                store,
                place,
                what: format!("do what baton needs ({detail})"),
                remedy: GRANTS.to_owned(),
            },
            Some((_, ErrorClass::BinlogFormat)) => {
                OpenError::Unfit { store, place, finding: detail, remedy: BINLOG_FORMAT.to_owned() }
            }
            Some((_, ErrorClass::ReadOnly)) => OpenError::Unfit {
                store,
                place,
                finding: "it is read-only".to_owned(),
                remedy: "name the primary".to_owned(),
            },
            Some((_, ErrorClass::TooMany)) | None => {
                OpenError::Unreachable { store, place, detail }
            }
            Some(_) => OpenError::Strange { store, place, detail },
        }
    }
}

/// Could the two not agree on TLS, or does one not believe the other?
fn is_of_tls(error: &Error) -> bool {
    use mysql_async::DriverError::NoClientSslFlagFromServer;
    matches!(error, Error::Io(IoError::Tls(_)) | Error::Driver(NoClientSslFlagFromServer))
        || tls_error(error).is_some()
}

/// What to do about missing rights.
pub(super) const GRANTS: &str = "grant what docs/stores/mysql.md lists";

/// What to do about a binary log that cannot take our writes.
pub(super) const BINLOG_FORMAT: &str = "set binlog_format to ROW or MIXED";

/// What to call the lease in messages.
pub(super) fn lease_name(namespace: &Namespace) -> String {
    format!("the lease of namespace {namespace}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use baton_core::protocol::Failure::{self, NotDone, Rejected, Unknown};

    use super::*;

    fn reported(code: u16, state: &str) -> QueryError {
        let message = "it\nsaid no".to_owned();
        QueryError::Call(Error::Server(ServerError { code, message, state: state.to_owned() }))
    }

    #[test]
    fn what_came_back_says_what_it_means_for_the_write() {
        let of = |code| {
            reported(code, "HY000").into_driver_error("db", None).into_store_error().failure()
        };
        let (lock, deadlock, read_only, full) = (1205, 1213, 1290, 1114);
        assert_eq!([lock, deadlock, read_only, full].map(of), [NotDone; 4]);
        let (killed, commit, shutdown) = (1317, 1180, 1053);
        assert_eq!([killed, commit, shutdown].map(of), [Unknown; 3]);
        let (rights, table, format) = (1142, 1146, 1665);
        assert_eq!([rights, table, format].map(of), [Rejected; 3]);
        let failure = |fault: QueryError| -> Failure {
            fault.into_driver_error("db", None).into_store_error().failure()
        };
        assert_eq!(failure(QueryError::Late(Duration::from_secs(1))), Unknown);
        assert_eq!(
            failure(QueryError::Call(Error::Driver(mysql_async::DriverError::ConnectionClosed))),
            Unknown
        );
        assert_eq!(failure(QueryError::NoConnection(None)), NotDone);
    }

    #[test]
    fn a_record_that_is_not_ours_is_named_and_the_connection_kept() {
        let namespace = Namespace::new("web").expect("it is a good name");
        assert!(!reported(31901, "BT001").breaks_connection());
        assert!(reported(1213, "40001").breaks_connection());
        let error = reported(31901, "BT001")
            .into_driver_error("db", Some(&namespace))
            .into_store_error()
            .to_string();
        assert!(error.starts_with("the lease of namespace web cannot be read"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
