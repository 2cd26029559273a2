//! What went wrong, and what it means: for a write, for a read, for opening.

use baton_store::StoreError;

use crate::refusal::Refusal;

/// The codes of gRPC that tell cases apart. An error is never known by its text.
pub(super) mod code {
    pub(in super::super) const INVALID_ARGUMENT: i64 = 3;
    pub(in super::super) const NOT_FOUND: i64 = 5;
    pub(in super::super) const PERMISSION_DENIED: i64 = 7;
    pub(in super::super) const RESOURCE_EXHAUSTED: i64 = 8;
    pub(in super::super) const FAILED_PRECONDITION: i64 = 9;
    pub(in super::super) const OUT_OF_RANGE: i64 = 11;
    pub(in super::super) const UNIMPLEMENTED: i64 = 12;
    pub(in super::super) const UNAUTHENTICATED: i64 = 16;
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// No server was there to send it to.
    NotSent(String),
    /// The other side's certificate, or ours, is not accepted.
    Tls(String),
    /// It was sent, and what became of it is not known.
    NoAnswer(String),
    /// The server said no.
    Said {
        /// Its code.
        code: i64,
        /// Its words, for people.
        message: String,
    },
    /// Whatever answered is not etcd's gateway.
    Strange(String),
}

impl Trouble {
    /// Was the request refused before anything was done?
    fn refused(&self) -> Option<StoreError> {
        let Self::Said { code, message } = self else { return None };
        let detail = match *code {
            code::RESOURCE_EXHAUSTED => {
                let detail = format!("etcd says {message:?}; baton doctor tells its alarms");
                return Some(StoreError::Throttled { detail });
            }
            // The lease that was granted a moment ago is gone: etcd changed leaders or was stopped.
            code::NOT_FOUND | code::OUT_OF_RANGE => {
                let detail = format!("etcd says {message:?}");
                return Some(StoreError::Unavailable { detail });
            }
            code::PERMISSION_DENIED => {
                format!("etcd says {message:?}; grant the user readwrite on baton's prefix")
            }
            code::UNAUTHENTICATED => {
                format!("etcd says {message:?}; check user and password")
            }
            code::INVALID_ARGUMENT => {
                format!("etcd says {message:?}; check user, password and the size of the request")
            }
            code::FAILED_PRECONDITION | code::UNIMPLEMENTED => format!("etcd says {message:?}"),
            _ => return None,
        };
        Some(StoreError::Refused { detail })
    }

    /// What it means for a request that would have written.
    pub(super) fn of_write(self) -> StoreError {
        match self.refused() {
            Some(error) => error,
            None => match self {
                Self::NotSent(detail) | Self::Tls(detail) => StoreError::Unavailable { detail },
                other => StoreError::Unknown { detail: other.words() },
            },
        }
    }

    /// What it means for a request that changes nothing of baton's.
    pub(super) fn of_read(self) -> StoreError {
        let error = self.refused();
        error.unwrap_or_else(|| StoreError::Unavailable { detail: self.words() })
    }

    fn words(self) -> String {
        match self {
            Self::NotSent(detail) | Self::Tls(detail) | Self::NoAnswer(detail) => detail,
            Self::Said { code, message } => format!("etcd says {message:?}, code {code}"),
            Self::Strange(detail) => format!("this is no etcd gateway: {detail}"),
        }
    }

    /// What it means for opening.
    pub(super) fn of_opening(self, place: &str, prefix: &str) -> Refusal {
        let (store, place) = ("etcd", place.to_owned());
        match self {
            Self::Said { code: code::PERMISSION_DENIED, .. } => Refusal::Rights {
                store,
                place,
                what: format!("read and write keys under {prefix}/"),
                remedy: format!(
                    "run etcdctl role grant-permission ROLE --prefix=true readwrite {prefix}/"
                ),
            },
            Self::Said { code: code::UNAUTHENTICATED | code::INVALID_ARGUMENT, message } => {
                Refusal::Login { store, place, detail: message }
            }
            Self::Tls(detail) => Refusal::Tls { store, place, detail },
            Self::Strange(detail) => {
                let detail = format!("{detail}; is it 3.4 or later, with its gRPC gateway on?");
                Refusal::Strange { store, place, detail }
            }
            other => Refusal::Unreachable { store, place, detail: other.words() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: i64) -> Trouble {
        Trouble::Said { code, message: "no".to_owned() }
    }

    #[test]
    fn unknown_unless_it_is_certain() {
        use baton_core::protocol::Failure::{NotDone, Rejected, Unknown};
        let text = || "x".to_owned();
        let cases = [
            (Trouble::NotSent(text()), NotDone, NotDone),
            (Trouble::Tls(text()), NotDone, NotDone),
            (Trouble::NoAnswer(text()), Unknown, NotDone),
            (Trouble::Strange(text()), Unknown, NotDone),
            (said(code::PERMISSION_DENIED), Rejected, Rejected),
            (said(code::UNAUTHENTICATED), Rejected, Rejected),
            (said(code::RESOURCE_EXHAUSTED), NotDone, NotDone),
            (said(code::NOT_FOUND), NotDone, NotDone),
            // Unavailable: etcd says so too when a proposal timed out, which may still be applied.
            (said(14), Unknown, NotDone),
            (said(4), Unknown, NotDone),
            (said(2), Unknown, NotDone),
        ];
        for (trouble, write, read) in cases {
            assert_eq!(trouble.clone().of_write().failure(), write, "{trouble:?}");
            assert_eq!(trouble.clone().of_read().failure(), read, "{trouble:?}");
        }
    }
}
