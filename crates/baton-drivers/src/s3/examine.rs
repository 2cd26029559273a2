//! What `baton doctor` looks at.

use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Finding, StoreError};
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpRequest, HttpRequestBody, HttpService};

use super::bucket::unix_seconds;
use super::error::RequestError;
use super::observing_client::{Observation, RequestOutcome};
use super::store::S3Engine;

/// Signatures are refused when clocks differ by 15 minutes; this is early enough to say so.
const SKEW_MAX_SECONDS: u64 = 300;

impl S3Engine {
    pub(super) async fn findings(&self) -> Result<Vec<Finding>, StoreError> {
        let config = &self.config;
        let timeout = whole_ms(config.timeout);
        let mut findings = vec![
            Finding::ok("server", format!("{}, region {}", config.place(), config.region)),
            Finding::ok("conditions", "conditional writes were honoured when it was opened"),
            Finding::ok("timeout", format!("every call ends within {timeout} ms")),
            self.wire(),
        ];
        let (versioning, outcome) = self.versioning().await;
        findings.extend(clock(&outcome));
        findings.push(match (versioning.as_deref(), &outcome) {
            (Some(body), RequestOutcome::Answered { status: 200, .. }) => versions(body),
            (_, RequestOutcome::Answered { .. }) => {
                Finding::ok("versioning", "this user may not ask")
            }
            _ => {
                let asked = "GET ?versioning".to_owned();
                return Err(RequestError { asked, writes: false, outcome }.into());
            }
        });
        Ok(findings)
    }

    fn wire(&self) -> Finding {
        match self.config.is_open_to_others() {
            false => Finding::ok("tls", "nothing travels in the open beyond this machine"),
            true => Finding::warn(
                "tls",
                "requests travel in the open; signatures hide the key, not the data",
                "use an endpoint that begins with https://",
            ),
        }
    }

    /// Asks whether old versions of objects are kept: what was answered, if it was.
    async fn versioning(&self) -> (Option<String>, RequestOutcome) {
        let observation = Observation::default();
        let Ok(credential) = self.bucket.store.credentials().get_credential().await else {
            return (None, RequestOutcome::NotMade);
        };
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        let Ok(uri) = format!("{}/?versioning", self.bucket.url).parse() else {
            return (None, RequestOutcome::NotSent("the endpoint is no address".to_owned()));
        };
        *request.uri_mut() = uri;
        let signer = AwsAuthorizer::new(&credential, "s3", &self.bucket.region);
        if signer.try_authorize(&mut request, None).is_err() {
            return (None, RequestOutcome::NotMade);
        }
        let answer = async {
            let answer = self.bucket.client.call(request).await.ok()?;
            let body = answer.into_body().bytes().await.ok()?;
            Some(String::from_utf8_lossy(&body).into_owned())
        };
        let answer = tokio::time::timeout_at(self.deadline(), observation.follow(answer))
            .await
            .ok()
            .flatten();
        (answer, observation.outcome())
    }
}

fn versions(body: &str) -> Finding {
    match body.contains("<Status>Enabled</Status>") {
        false => Finding::ok("versioning", "off: only the newest version of an object is kept"),
        true => Finding::warn(
            "versioning",
            "on: every beat leaves an old version behind, and all of them are paid for",
            "let a lifecycle rule remove noncurrent versions under the prefix after a day",
        ),
    }
}

/// How far this machine's clock is from the server's, if the answer has a date.
fn clock(outcome: &RequestOutcome) -> Option<Finding> {
    let RequestOutcome::Answered { date: Some(date), .. } = outcome else { return None };
    let (theirs, ours) = (unix_seconds(date)?, SystemClock.wall_ms() / 1_000);
    let skew = theirs.abs_diff(ours);
    let detail = format!("this machine's clock and the server's differ by {skew} s");
    Some(match skew > SKEW_MAX_SECONDS {
        false => Finding::ok("clock", detail),
        true => {
            let why = "set the clock: requests are refused when it is off by 15 minutes";
            Finding::warn("clock", detail, why)
        }
    })
}
