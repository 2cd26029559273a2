//! What the caller must do about a request that did not do what it should.

use baton_store::StoreError;

use super::observing_client::RequestOutcome;
use crate::OpenError;

/// Codes that say that the keys are not known to the server. Keys without the right have
/// `AccessDenied`.
const LOGIN: [&str; 6] = [
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "ExpiredToken",
    "InvalidSecurity",
    "AuthorizationHeaderMalformed",
];

/// A request that failed.
#[derive(Debug)]
pub(super) struct RequestError {
    /// What was asked, for people: method and key.
    pub(super) request: String,
    /// Would it have written something?
    pub(super) writes: bool,
    pub(super) outcome: RequestOutcome,
}

impl RequestError {
    fn detail(&self) -> String {
        let request = &self.request;
        match &self.outcome {
            RequestOutcome::NotMade => format!("{request}: no credentials were found"),
            RequestOutcome::NotSent(why) | RequestOutcome::NotAnswered(why) => {
                format!("{request}: {why}")
            }
            RequestOutcome::Answered { status, code, .. } => {
                format!("{request}: {status} {code}").trim_end().to_owned()
            }
        }
    }

    fn code(&self) -> &str {
        match &self.outcome {
            RequestOutcome::Answered { code, .. } => code,
            _ => "",
        }
    }

    /// The status of the answer; 0 if there was none.
    pub(super) fn status(&self) -> u16 {
        match &self.outcome {
            RequestOutcome::Answered { status, .. } => *status,
            _ => 0,
        }
    }

    /// Is there no such object? That the bucket is not there is no answer about an object.
    pub(super) fn is_absent(&self) -> bool {
        self.status() == 404 && self.code() != "NoSuchBucket"
    }

    /// Why the store cannot be used, when it is being opened.
    pub(super) fn open_error(&self, place: &str) -> OpenError {
        let (store, place, detail) = ("s3", place.to_owned(), self.detail());
        let strange = |why: &str| OpenError::Strange {
            store,
            place: place.clone(),
            detail: format!("{detail}{why}"),
        };
        match (self.status(), self.code()) {
            (_, "NoSuchBucket") => OpenError::Missing {
                store,
                place,
                what: "the bucket".to_owned(),
                remedy: "create it, or check its name, region and endpoint".to_owned(),
            },
            (_, "RequestTimeTooSkewed") => {
                strange(": this machine's clock is off by more than 15 minutes")
            }
            (status, code) if status == 401 || LOGIN.contains(&code) => {
                OpenError::Login { store, place, detail }
            }
            (403, _) => OpenError::Rights {
                store,
                place,
                what: detail,
                remedy: "grant what docs/stores/s3.md lists".to_owned(),
            },
            (501, _) => OpenError::Unfit {
                store,
                place,
                finding: format!("{detail}: conditional writes are not implemented"),
                remedy: "use a server that honours If-None-Match and If-Match".to_owned(),
            },
            (301 | 307, _) => strange(": the bucket is in another region; set region="),
            (0, _) if matches!(self.outcome, RequestOutcome::NotMade) => {
                OpenError::Login { store, place, detail }
            }
            (0 | 429 | 500.., _) => OpenError::Unreachable { store, place, detail },
            _ => strange(""),
        }
    }
}

impl From<RequestError> for StoreError {
    fn from(error: RequestError) -> Self {
        let detail = error.detail();
        let refused = |remedy: &str| Self::Refused { detail: format!("{detail}; {remedy}") };
        match (&error.outcome, error.status()) {
            (RequestOutcome::NotMade, _) => refused("give access_key and secret_key"),
            (RequestOutcome::NotAnswered(_), _) | (_, 500 | 502..) if error.writes => {
                Self::Unknown { detail }
            }
            (_, 429 | 503) => Self::Throttled { detail },
            (RequestOutcome::NotSent(_) | RequestOutcome::NotAnswered(_), _)
            | (_, 408 | 500 | 502..) => Self::Unavailable { detail },
            // The server waited for the request's body and gave up on it.
            (_, 400) if error.code() == "RequestTimeout" => Self::Unavailable { detail },
            (_, 404) => refused("create the bucket, or check its name and endpoint"),
            (_, 401 | 403) => refused("check the keys and what they may do; see docs/stores/s3.md"),
            _ => refused("see docs/stores/s3.md"),
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_core::protocol::Failure;

    use super::*;

    fn failure(writes: bool, outcome: RequestOutcome) -> Failure {
        let request = "PUT state.json".to_owned();
        StoreError::from(RequestError { request, writes, outcome }).failure()
    }

    fn answered(status: u16, code: &str) -> RequestOutcome {
        RequestOutcome::Answered { status, code: code.to_owned(), at: None }
    }

    #[test]
    fn what_may_have_been_applied_is_unknown_and_nothing_else_is() {
        let lost = || RequestOutcome::NotAnswered("reset".to_owned());
        let cases = [
            (lost(), Failure::Unknown, Failure::NotDone),
            (answered(500, "InternalError"), Failure::Unknown, Failure::NotDone),
            (answered(503, "SlowDown"), Failure::Unknown, Failure::NotDone),
            (answered(504, ""), Failure::Unknown, Failure::NotDone),
            (answered(429, ""), Failure::NotDone, Failure::NotDone),
            (answered(400, "RequestTimeout"), Failure::NotDone, Failure::NotDone),
            (RequestOutcome::NotSent("refused".to_owned()), Failure::NotDone, Failure::NotDone),
            (answered(403, "AccessDenied"), Failure::Rejected, Failure::Rejected),
            (answered(404, "NoSuchBucket"), Failure::Rejected, Failure::Rejected),
            (answered(501, "NotImplemented"), Failure::Rejected, Failure::Rejected),
        ];
        for (outcome, write, read) in cases {
            assert_eq!(failure(true, outcome.clone()), write, "a write: {outcome:?}");
            assert_eq!(failure(false, outcome.clone()), read, "a read: {outcome:?}");
        }
    }
}
