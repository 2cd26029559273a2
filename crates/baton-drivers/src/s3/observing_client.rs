//! The HTTP client, which records the outcome of every request: by number and type, not by text.

use std::cell::RefCell;
use std::error::Error;
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};

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

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn the_code_of_an_error_is_found_in_its_xml() {
        let xml = "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Key>x</Key></Error>";
        assert_eq!(code(xml), "NoSuchBucket");
        assert_eq!(code("<html>Bad gateway</html>"), "");
        assert_eq!(code("<Code>two words</Code>"), "");
    }
}
