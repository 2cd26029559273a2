//! Why a store cannot be opened: the same words for every store.

use baton_store::StoreError;

#[cfg(feature = "network")]
use crate::address::AddressError;
use crate::driver::IncompatibleSchema;
use crate::open::known_stores;

/// Why a store cannot be opened. One line each, it says what to do, and shows no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum OpenError {
    /// There is no `://` in it. It is not repeated: a secret may be in it.
    #[error("the store's URL has no scheme before ://; known are {}", known_stores())]
    NoScheme,
    /// No store goes by its scheme. It is not repeated: a secret may be in it.
    #[error("the store's URL has an unknown scheme before ://; known are {}", known_stores())]
    UnknownScheme,
    /// The scheme is known, but its driver is not built in.
    #[error("{scheme}:// needs a program built with the feature {feature}, which this one is not")]
    NotBuilt { scheme: String, feature: &'static str },
    #[error("memory:// takes no path and no options; write memory://")]
    NotMemory,
    /// Another client has no use for the URL of this store.
    #[error("{scheme}:// has no URL for another client; {remedy}")]
    NoClientUrl { scheme: String, remedy: &'static str },
    /// The file cannot be used.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] crate::sqlite::SqliteOpenError),
    #[cfg(feature = "network")]
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(
        "{store} at {place} cannot be reached ({detail}); is the server running, \
         and is the address right?"
    )]
    Unreachable { store: &'static str, place: String, detail: String },
    #[error("{store} at {place} refuses this user ({detail}); check user and password")]
    Login { store: &'static str, place: String, detail: String },
    #[error("{store} at {place}: {what} is missing; {remedy}")]
    Missing { store: &'static str, place: String, what: String, remedy: String },
    #[error("{store} at {place}: this user may not {what}; {remedy}")]
    Rights { store: &'static str, place: String, what: String, remedy: String },
    #[error("{store} at {place} is version {found}, and at least {needed} is needed")]
    Version { store: &'static str, place: String, found: String, needed: &'static str },
    #[error("{store} at {place} {reason}")]
    NewerSchema { store: &'static str, place: String, reason: IncompatibleSchema },
    /// A store opened to read only does not bring the schema up to date.
    #[error(
        "{store} at {place} has schema version {found}, and this program reads {known}; baton run, \
         serve and doctor bring it up to date"
    )]
    OlderSchema { store: &'static str, place: String, found: i64, known: i64 },
    /// The server does not keep a promise that baton rests on, or is not the one that takes writes.
    #[error("{store} at {place} cannot be trusted with a lease: {finding}; {remedy}")]
    Unfit { store: &'static str, place: String, finding: String, remedy: String },
    #[error(
        "{store} at {place} is a connection pooler ({detail}); connect to the server itself, or \
         say pooler=session if it gives every client a session of its own"
    )]
    Pooled { store: &'static str, place: String, detail: String },
    #[error("{store} at {place}: TLS cannot be set up ({detail}); check tls_ca, tls_cert, tls_key")]
    Tls { store: &'static str, place: String, detail: String },
    #[error("{store} at {place} gave an answer that no {store} server gives ({detail})")]
    Strange { store: &'static str, place: String, detail: String },
    #[error("no thread for the store can be started ({0}); raise the limit on threads")]
    Thread(std::io::Error),
    #[error("the store's thread ended at once; this is a bug")]
    Ended,
}

/// The same, met while the store was in use already and a connection was to be made. Nothing was
/// sent. A server that is away, that restarts or that became a standby may come back.
impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        let detail = error.to_string();
        match error {
            OpenError::Unreachable { .. } | OpenError::Unfit { .. } | OpenError::Tls { .. } => {
                Self::Unavailable { detail }
            }
            _ => Self::Refused { detail },
        }
    }
}
