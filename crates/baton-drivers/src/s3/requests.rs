//! The HTTP client, which records the outcome of every request: by number and type, not by text;
//! and what the caller must do about one that did not do what it should.

use std::cell::RefCell;
use std::error::Error;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use baton_store::StoreError;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};

use crate::OpenError;

#[derive(Clone, Debug, Default)]
pub(super) enum RequestOutcome {
    /// No request was made at all: there is nothing to sign it with.
    #[default]
    NotMade,
    /// No connection came about, so nothing was sent.
    NotSent(String),
    /// It was sent, and no whole answer came back.
    NotAnswered(String),
    Answered {
        status: u16,
        /// The code that S3 gives an error, such as `NoSuchBucket`; otherwise empty.
        code: String,
        /// When, in Unix seconds of the server's.
        at: Option<i64>,
    },
}

impl RequestOutcome {
    /// When it was answered, in Unix seconds of the server's.
    pub(super) fn at(&self) -> Option<i64> {
        match self {
            Self::Answered { at, .. } => *at,
            _ => None,
        }
    }
}

tokio::task_local! {
    /// What became of the last request that this task made; the library has no place for it.
    static OUTCOME: RefCell<RequestOutcome>;
}

/// Makes a request, and says what became of it. If it makes several, the last counts.
pub(super) async fn observed<T>(request: impl Future<Output = T>) -> (T, RequestOutcome) {
    let observed = async { (request.await, OUTCOME.with(RefCell::take)) };
    OUTCOME.scope(RefCell::default(), observed).await
}

fn note(outcome: RequestOutcome) {
    // A client of the user's own is not observed.
    let _ = OUTCOME.try_with(|noted| noted.replace(outcome));
}

/// The client that all requests go through.
#[derive(Clone, Debug)]
pub(super) struct ObservingClient(pub(super) reqwest::Client);

#[async_trait]
impl HttpService for ObservingClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = HttpService::call(&self.0, request).await.inspect_err(failed)?;
        let status = answer.status().as_u16();
        let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
        let at = date.and_then(unix_seconds);
        note(RequestOutcome::Answered { status, code: String::new(), at });
        if answer.status().is_success() || status == 304 {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        let body = body.bytes().await.inspect_err(failed)?;
        let code = code(&String::from_utf8_lossy(&body));
        note(RequestOutcome::Answered { status, code, at });
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

impl HttpConnector for ObservingClient {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

fn failed(error: &HttpError) {
    let source = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
    let detail = innermost(error);
    note(match source.is_some_and(reqwest::Error::is_connect) {
        true => RequestOutcome::NotSent(detail),
        false => RequestOutcome::NotAnswered(detail),
    });
}

/// The first cause; what wraps it repeats the address.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string().replace('\n', " ")
}

fn code(body: &str) -> String {
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let plain = |code: &&str| code.len() <= 64 && code.chars().all(|c| c.is_ascii_alphanumeric());
    code.map(|(code, _)| code).filter(plain).unwrap_or_default().to_owned()
}

/// The date of an HTTP answer as Unix time in seconds; `None` if it is no such date.
fn unix_seconds(date: &str) -> Option<i64> {
    let since = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// Codes that say who asks is not known here. What is known but may not has `AccessDenied`.
const LOGIN: [&str; 6] = [
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "ExpiredToken",
    "InvalidSecurity",
    "AuthorizationHeaderMalformed",
];

#[derive(Debug)]
pub(super) struct RequestError {
    /// What was asked, for people: method and key.
    pub(super) asked: String,
    /// Would it have written something?
    pub(super) writes: bool,
    pub(super) outcome: RequestOutcome,
}

impl RequestError {
    fn detail(&self) -> String {
        let asked = &self.asked;
        match &self.outcome {
            RequestOutcome::NotMade => format!("{asked}: no credentials were found"),
            RequestOutcome::NotSent(why) | RequestOutcome::NotAnswered(why) => {
                format!("{asked}: {why}")
            }
            RequestOutcome::Answered { status, code, .. } => {
                format!("{asked}: {status} {code}").trim_end().to_owned()
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
        let asked = "PUT state.json".to_owned();
        StoreError::from(RequestError { asked, writes, outcome }).failure()
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

    #[test]
    fn the_code_of_an_error_is_found_in_its_xml() {
        let xml = "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Key>x</Key></Error>";
        assert_eq!(code(xml), "NoSuchBucket");
        assert_eq!(code("<html>Bad gateway</html>"), "");
        assert_eq!(code("<Code>two words</Code>"), "");
    }
}
