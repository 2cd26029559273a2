//! What went wrong, by what the caller must do. Told by code and type, never by text.

use ::redis::{ErrorKind, RedisError, ServerErrorKind};
use baton_store::StoreError;

use super::NAME;
use crate::refusal::Refusal;

/// Why there is no connection. Nothing was sent.
#[derive(Debug)]
pub(super) enum NoLink {
    /// Nobody answers there.
    Unreachable(String),
    /// It does not let this user in.
    Login(String),
    /// TLS cannot be set up, or the other side is not who it should be.
    Tls(String),
    /// It is a replica, which may be behind and takes no writes.
    Replica { place: String },
    /// It is too old.
    Version { place: String, found: String },
    /// It does not sync every write, as it was said to.
    Unsynced { place: String, setting: &'static str, found: String, wanted: &'static str },
    /// This user may not run a command.
    Rights { what: String },
    /// It answers what no Redis answers.
    Strange(String),
}

/// The oldest version whose scripts can do what the steps need.
pub(super) const OLDEST: (u32, u32) = (6, 2);

impl NoLink {
    /// For whoever opens the store.
    pub(super) fn refusal(self, place: String) -> Refusal {
        let store = NAME;
        match self {
            Self::Unreachable(detail) => Refusal::Unreachable { store, place, detail },
            Self::Login(detail) => Refusal::Login { store, place, detail },
            Self::Tls(detail) => Refusal::Tls { store, place, detail },
            Self::Replica { place } => Refusal::Unfit {
                store,
                place,
                finding: "it is a replica".to_owned(),
                remedy: "name its master, or all hosts of which one is the master".to_owned(),
            },
            Self::Version { place, found } => {
                Refusal::Version { store, place, found, needed: "6.2" }
            }
            Self::Unsynced { place, setting, found, wanted } => Refusal::Unfit {
                store,
                place,
                finding: format!("{setting} is {found:?}, and the URL's option needs {wanted:?}"),
                remedy: "set it in the server's configuration, or leave the option out".to_owned(),
            },
            Self::Rights { what } => {
                let remedy = "give it the rules of docs/stores/redis.md".to_owned();
                Refusal::Rights { store, place, what, remedy }
            }
            Self::Strange(detail) => Refusal::Strange { store, place, detail },
        }
    }

    /// For whoever uses the store.
    pub(super) fn in_use(self, place: String) -> StoreError {
        let detail = match &self {
            Self::Unreachable(detail) => format!("{NAME} at {place}: {detail}"),
            _ => String::new(),
        };
        match self {
            Self::Unreachable(_) => StoreError::Unavailable { detail },
            // It may have been in the middle of a restart.
            Self::Replica { .. } | Self::Tls(_) => {
                StoreError::Unavailable { detail: self.refusal(place).to_string() }
            }
            other => StoreError::Refused { detail: other.refusal(place).to_string() },
        }
    }

    /// Why a connection that was made is of no use.
    pub(super) fn of(error: &RedisError) -> Self {
        match (error.kind(), error.code()) {
            (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS" | "DENIED")) => {
                Self::Login(error.to_string())
            }
            (_, Some("NOPERM")) => {
                let why = error.detail().unwrap_or("NOPERM");
                Self::Rights { what: format!("run what the store needs ({why})") }
            }
            _ if is_of_tls(error) => Self::Tls(error.to_string()),
            (ErrorKind::Io, _) => Self::Unreachable(error.to_string()),
            (ErrorKind::Server(ServerErrorKind::BusyLoading), _) => {
                Self::Unreachable("it is still loading its data".to_owned())
            }
            _ => Self::Strange(error.to_string()),
        }
    }
}

/// Did TLS fail, rather than what it runs over?
pub(super) fn is_of_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    // An io::Error shows what it wraps by get_ref, and not as its source.
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    inner.is_some() || error.is::<rustls::Error>() || error.source().is_some_and(is_of_tls)
}

/// What a failed request means for the write. It was sent.
pub(super) fn failed(error: &RedisError) -> StoreError {
    let detail = error.to_string();
    match error.code() {
        // Turned away before the script began, or by its first write.
        Some("BUSY") => StoreError::Throttled { detail },
        Some(
            "LOADING" | "READONLY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "NOREPLICAS"
            | "MISCONF" | "OOM" | "MOVED" | "ASK" | "NOSCRIPT",
        ) => StoreError::Unavailable { detail },
        Some("NOAUTH" | "WRONGPASS" | "NOPERM" | "CROSSSLOT" | "ERR" | "DENIED") => {
            let detail = format!("{detail}; see the rules for its user in docs/stores/redis.md");
            StoreError::Refused { detail }
        }
        _ => StoreError::Unknown { detail },
    }
}

/// Must the connection be thrown away after this?
pub(super) fn is_broken(error: &RedisError) -> bool {
    let demoted = matches!(error.code(), Some("READONLY" | "MASTERDOWN" | "NOAUTH"));
    demoted || !matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::protocol::Failure::{NotDone, Rejected, Unknown};

    #[test]
    fn a_failed_request_says_what_it_means_for_the_write() {
        let of = |code: &str| {
            let error = ::redis::make_extension_error(code.to_owned(), None);
            failed(&error).failure()
        };
        for code in ["BUSY", "LOADING", "READONLY", "OOM", "MISCONF", "NOREPLICAS"] {
            assert_eq!(of(code), NotDone, "{code}");
        }
        assert_eq!([of("NOPERM"), of("ERR"), of("NEVERHEARD")], [Rejected, Rejected, Unknown]);
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        assert_eq!(failed(&lost).failure(), Unknown);
        assert!(is_broken(&lost));
    }
}
