//! Why a request to the gateway failed, and what that means: for a call, and for opening.

use baton_store::StoreError;

use super::NAME;
use crate::OpenError;
use crate::driver::DriverError;

/// The codes of gRPC that distinguish cases. An error is never judged by its text.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GatewayError {
    /// There was no connection to send it over.
    NotSent(String),
    /// The other side's certificate, or ours, is not accepted.
    Tls(String),
    /// It was sent, and no answer came.
    NoAnswer(String),
    /// The server refused it, with a code and a message for people.
    Refused { code: i64, message: String },
    /// What answered is not etcd's gateway.
    Strange(String),
}

/// What it means for a request that would have written.
impl From<GatewayError> for DriverError {
    fn from(error: GatewayError) -> Self {
        let (code, said) = match error {
            GatewayError::NotSent(detail) | GatewayError::Tls(detail) => {
                return Self::unavailable(detail);
            }
            GatewayError::NoAnswer(detail) => return Self::unknown(detail),
            GatewayError::Strange(detail) => {
                return Self::unknown(format!("this is no etcd gateway: {detail}"));
            }
            GatewayError::Refused { code, message } => (code, format!("etcd says {message:?}")),
        };
        let size = "check user, password and the size of the request";
        match code {
            code::RESOURCE_EXHAUSTED => {
                Self::throttled(format!("{said}; baton doctor shows its alarms"))
            }
            // The lease that was granted a moment ago is gone: etcd changed leaders or was stopped.
            code::NOT_FOUND | code::OUT_OF_RANGE => Self::unavailable(said),
            code::PERMISSION_DENIED => {
                Self::refused(format!("{said}; grant the user readwrite on baton's prefix"))
            }
            code::UNAUTHENTICATED => Self::refused(format!("{said}; check user and password")),
            code::INVALID_ARGUMENT => Self::refused(format!("{said}; {size}")),
            code::FAILED_PRECONDITION | code::UNIMPLEMENTED => Self::refused(said),
            // Unavailable among them: etcd says so too when a proposal timed out, which may still
            // be applied.
            _ => Self::unknown(format!("{said}, code {code}")),
        }
    }
}

impl GatewayError {
    /// What it means for a request that changes nothing of baton's.
    pub(super) fn of_read(self) -> StoreError {
        DriverError::from(self).of_read().into_store_error()
    }

    pub(super) fn at_opening(self, place: &str, prefix: &str) -> OpenError {
        let (store, place) = (NAME, place.to_owned());
        match self {
            Self::Refused { code: code::PERMISSION_DENIED, .. } => OpenError::Rights {
                store,
                place,
                what: format!("read and write keys under {prefix}/"),
                remedy: format!(
                    "run etcdctl role grant-permission ROLE --prefix=true readwrite {prefix}/"
                ),
            },
            Self::Refused { code: code::UNAUTHENTICATED | code::INVALID_ARGUMENT, message } => {
                OpenError::Login { store, place, detail: message }
            }
            Self::Tls(detail) => OpenError::Tls { store, place, detail },
            Self::Strange(detail) => {
                let detail = format!("{detail}; is it 3.4 or later, with its gRPC gateway on?");
                OpenError::Strange { store, place, detail }
            }
            Self::NotSent(detail) | Self::NoAnswer(detail) => {
                OpenError::Unreachable { store, place, detail }
            }
            Self::Refused { code, message } => {
                let detail = format!("etcd says {message:?}, code {code}");
                OpenError::Unreachable { store, place, detail }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: i64) -> GatewayError {
        GatewayError::Refused { code, message: "no".to_owned() }
    }

    #[test]
    fn unknown_unless_it_is_certain() {
        use baton_core::protocol::Failure::{NotDone, Rejected, Unknown};
        let text = || "x".to_owned();
        let cases = [
            (GatewayError::NotSent(text()), NotDone, NotDone),
            (GatewayError::Tls(text()), NotDone, NotDone),
            (GatewayError::NoAnswer(text()), Unknown, NotDone),
            (GatewayError::Strange(text()), Unknown, NotDone),
            (refused(code::PERMISSION_DENIED), Rejected, Rejected),
            (refused(code::UNAUTHENTICATED), Rejected, Rejected),
            (refused(code::RESOURCE_EXHAUSTED), NotDone, NotDone),
            (refused(code::NOT_FOUND), NotDone, NotDone),
            // Unavailable, and two more.
            (refused(14), Unknown, NotDone),
            (refused(4), Unknown, NotDone),
            (refused(2), Unknown, NotDone),
        ];
        for (error, write, read) in cases {
            assert_eq!(
                DriverError::from(error.clone()).into_store_error().failure(),
                write,
                "{error:?}"
            );
            assert_eq!(error.clone().of_read().failure(), read, "{error:?}");
        }
    }
}
