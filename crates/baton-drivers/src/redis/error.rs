//! Errors of the client library: what they mean for opening and for a call. Judged by code and
//! type, never by text.

use ::redis::{ErrorKind, ParsingError, RedisError, ServerErrorKind};

use super::NAME;
use crate::OpenError;
use crate::driver::DriverError;
use crate::tls::tls_error;

/// What an error means for a request that was sent, and for what it was to write.
impl From<RedisError> for DriverError {
    fn from(error: RedisError) -> Self {
        let detail = error.to_string();
        let meaning = match error.code() {
            // Turned away before the script began, or by its first write.
            Some("BUSY") => Self::throttled(detail),
            Some(
                "LOADING" | "READONLY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "NOREPLICAS"
                | "MISCONF" | "OOM" | "MOVED" | "ASK" | "NOSCRIPT",
            ) => Self::unavailable(detail),
            Some("NOAUTH" | "WRONGPASS" | "NOPERM" | "CROSSSLOT" | "ERR" | "DENIED") => {
                Self::refused(format!(
                    "{detail}; see the rules for its user in docs/stores/redis.md"
                ))
            }
            _ => Self::unknown(detail),
        };
        let demoted = matches!(error.code(), Some("READONLY" | "MASTERDOWN" | "NOAUTH"));
        match demoted || !matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension) {
            true => meaning.breaking_connection(),
            false => meaning,
        }
    }
}

/// An answer that the server does not give to such a command.
impl From<ParsingError> for DriverError {
    fn from(error: ParsingError) -> Self {
        Self::corrupt("an answer of the server", error.to_string())
    }
}

/// Why a connection that was made is of no use.
pub(super) fn at_opening(error: &RedisError, place: String) -> OpenError {
    let (store, detail) = (NAME, error.to_string());
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS" | "DENIED")) => {
            OpenError::Login { store, place, detail }
        }
        (_, Some("NOPERM")) => {
            let why = error.detail().unwrap_or("NOPERM");
            missing_rights(format!("run what the store needs ({why})"), place)
        }
        _ if tls_error(error).is_some() => OpenError::Tls { store, place, detail },
        (ErrorKind::Io, _) => OpenError::Unreachable { store, place, detail },
        (ErrorKind::Server(ServerErrorKind::BusyLoading), _) => {
            let detail = "it is still loading its data".to_owned();
            OpenError::Unreachable { store, place, detail }
        }
        _ => OpenError::Strange { store, place, detail },
    }
}

pub(super) fn missing_rights(what: String, place: String) -> OpenError {
    let remedy = "give it the rules of docs/stores/redis.md".to_owned();
    OpenError::Rights { store: NAME, place, what, remedy }
}

#[cfg(test)]
mod tests {
    use baton_core::protocol::Failure::{NotDone, Rejected, Unknown};

    use super::*;

    #[test]
    fn a_failed_request_says_what_it_means_for_the_write() {
        let of = |code: &str| {
            let error = ::redis::make_extension_error(code.to_owned(), None);
            DriverError::from(error).into_store_error().failure()
        };
        for code in ["BUSY", "LOADING", "READONLY", "OOM", "MISCONF", "NOREPLICAS"] {
            assert_eq!(of(code), NotDone, "{code}");
        }
        assert_eq!([of("NOPERM"), of("ERR"), of("NEVERHEARD")], [Rejected, Rejected, Unknown]);
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        let lost = DriverError::from(lost);
        assert!(lost.breaks_connection());
        assert_eq!(lost.into_store_error().failure(), Unknown);
    }
}
