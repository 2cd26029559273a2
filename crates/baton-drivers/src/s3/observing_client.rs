//! The HTTP client, which records the outcome of every request: by number and type, not by text.

use std::error::Error;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};

/// What became of one request.
#[derive(Clone, Debug, Default)]
pub(super) enum RequestOutcome {
    /// No request was made at all: there is nothing to sign it with.
    #[default]
    NotMade,
    /// No connection came about, so nothing was sent.
    NotSent(String),
    /// It was sent, and no whole answer came back.
    NotAnswered(String),
    /// It was answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The code that S3 gives an error, such as `NoSuchBucket`.
        code: Option<String>,
        /// When, by the server's clock.
        date: Option<String>,
    },
}

tokio::task_local! {
    /// The observation of whatever request this task makes; the library has no place for it.
    static OBSERVATION: Observation;
}

/// Travels with a request; what became of it is written on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Observation(Arc<Mutex<RequestOutcome>>);

impl Observation {
    /// Makes a request that this observation travels with. If it makes several, the last is noted.
    pub(super) async fn follow<T>(&self, request: impl Future<Output = T>) -> T {
        OBSERVATION.scope(self.clone(), request).await
    }

    /// What became of the request.
    pub(super) fn outcome(&self) -> RequestOutcome {
        self.0.lock().expect("no holder of this lock panics").clone()
    }

    pub(super) fn set(&self, outcome: RequestOutcome) {
        *self.0.lock().expect("no holder of this lock panics") = outcome;
    }
}

/// The client that all requests go through.
#[derive(Clone, Debug)]
pub(super) struct ObservingClient(pub(super) reqwest::Client);

#[async_trait]
impl HttpService for ObservingClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let observation = OBSERVATION.try_with(Clone::clone).unwrap_or_default();
        let answer = match HttpService::call(&self.0, request).await {
            Ok(answer) => answer,
            Err(error) => {
                observation.set(outcome_of(&error));
                return Err(error);
            }
        };
        let status = answer.status().as_u16();
        let date = answer.headers().get("date").and_then(|date| date.to_str().ok());
        let date = date.map(str::to_owned);
        observation.set(RequestOutcome::Answered { status, code: None, date: date.clone() });
        if answer.status().is_success() || status == 304 {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        let body = body.bytes().await.inspect_err(|error| observation.set(outcome_of(error)))?;
        observation.set(RequestOutcome::Answered {
            status,
            code: code(&String::from_utf8_lossy(&body)),
            date,
        });
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

impl HttpConnector for ObservingClient {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

fn outcome_of(error: &HttpError) -> RequestOutcome {
    let source = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
    let detail = innermost(error);
    match source.is_some_and(reqwest::Error::is_connect) {
        true => RequestOutcome::NotSent(detail),
        false => RequestOutcome::NotAnswered(detail),
    }
}

/// The first cause; what wraps it repeats the address.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string().replace('\n', " ")
}

/// The code in the XML of an S3 error.
fn code(body: &str) -> Option<String> {
    let (code, _) = body.split_once("<Code>")?.1.split_once("</Code>")?;
    let known = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
    (code.len() <= 64 && known(code)).then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn the_code_of_an_error_is_found_in_its_xml() {
        let xml = "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Key>x</Key></Error>";
        assert_eq!(code(xml).as_deref(), Some("NoSuchBucket"));
        assert_eq!(code("<html>Bad gateway</html>"), None);
        assert_eq!(code("<Code>two words</Code>"), None);
    }
}
