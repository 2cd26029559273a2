//! Why a server cannot be used as a store: the same words for every store.

use crate::address::AddressError;
use crate::service::StartError;

/// Why a server cannot be used as a store. One line each, it says what to do, and shows no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum Refusal {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(
        "{store} at {place} cannot be reached ({detail}); is the server running, \
         and is the address right?"
    )]
    Unreachable { store: &'static str, place: String, detail: String },
    #[error("{store} at {place} does not let this user in ({detail}); check user and password")]
    Login { store: &'static str, place: String, detail: String },
    #[error("{store} at {place}: {what} is missing; {remedy}")]
    Missing { store: &'static str, place: String, what: String, remedy: String },
    #[error("{store} at {place}: this user may not {what}; {remedy}")]
    Rights { store: &'static str, place: String, what: String, remedy: String },
    #[error("{store} at {place} is version {found}, and at least {needed} is needed")]
    Version { store: &'static str, place: String, found: String, needed: &'static str },
    #[error(
        "{store} at {place} has schema version {found}, and this program knows {known}; use a \
         newer version of it"
    )]
    NewerSchema { store: &'static str, place: String, found: i64, known: i64 },
    /// A store opened to read only does not bring the schema up to date.
    #[error(
        "{store} at {place} has schema version {found}, and this program reads {known}; baton run, \
         serve and doctor bring it up to date"
    )]
    OlderSchema { store: &'static str, place: String, found: i64, known: i64 },
    /// The server does not keep a promise that baton rests on.
    #[error("{store} at {place} cannot be trusted with a lease: {finding}; {remedy}")]
    Unfit { store: &'static str, place: String, finding: String, remedy: String },
    #[error(
        "{store} at {place} is a connection pooler ({detail}); connect to the server itself, or \
         say pooler=session if it gives every client a session of its own"
    )]
    Pooled { store: &'static str, place: String, detail: String },
    #[error("{store} at {place}: TLS cannot be set up ({detail}); check tls_ca, tls_cert, tls_key")]
    Tls { store: &'static str, place: String, detail: String },
    #[error("{store} at {place} answers what a {store} server does not ({detail})")]
    Strange { store: &'static str, place: String, detail: String },
    #[error("no thread for the store can be started ({0}); raise the limit on threads")]
    Thread(std::io::Error),
    #[error("the store's thread ended at once; this is a bug")]
    Ended,
}

impl From<StartError<Self>> for Refusal {
    fn from(error: StartError<Self>) -> Self {
        match error {
            StartError::Thread(problem) => Self::Thread(problem),
            StartError::Ended => Self::Ended,
            StartError::Refused(refusal) => refusal,
        }
    }
}
