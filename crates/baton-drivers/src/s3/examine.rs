//! Whether the server can be relied on: what `baton doctor` looks at, and what is tried out when a
//! bucket is first opened.
//!
//! A server that ignores conditions answers 200 to a second create, and two nodes would lead. That
//! conditions are honoured *atomically* cannot be seen by one client; a race of several can.

use std::collections::BTreeSet;
use std::sync::Mutex;

use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Finding, StoreError};
use object_store::path::Path;

use super::bucket::GetOutcome;
use super::context::S3Engine;
use super::error::RequestError;
use crate::OpenError;

/// Signatures are refused when clocks differ by 15 minutes; this is early enough to say so.
const SKEW_MAX_SECONDS: u64 = 300;

/// What this process has found to be fit.
static TESTED_BUCKETS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// An ETag that no content has.
const NO_ETAG: &str = "\"00000000000000000000000000000000\"";

const REMEDY: &str =
    "use a server with conditional writes: AWS S3, or one that docs/stores/s3.md names";

impl S3Engine {
    /// Tries the server out under a name that no other process has, once a process and bucket.
    pub(super) async fn self_test(&self, name: u128) -> Result<(), OpenError> {
        let place = self.config.place();
        let key = format!("{place} {}", self.config.prefix);
        if TESTED_BUCKETS.lock().expect("no holder of this lock panics").contains(&key) {
            return Ok(());
        }
        let folder = self.prefix.clone().join("self-test");
        let object = folder.clone().join(format!("{name:032x}.json"));
        let tried = self.try_out(&folder, &object).await;
        // Whatever was found, the object is not left behind if that can be helped.
        let removed = self.bucket.call().delete(&object, None).await;
        if let Some(finding) = tried.map_err(|error| error.open_error(&place))? {
            let remedy = REMEDY.to_owned();
            return Err(OpenError::Unfit { store: "s3", place, finding, remedy });
        }
        removed.map_err(|error| error.open_error(&place))?;
        TESTED_BUCKETS.lock().expect("no holder of this lock panics").insert(key);
        Ok(())
    }

    /// What the server does not do, if there is anything.
    async fn try_out(&self, folder: &Path, key: &Path) -> Result<Option<String>, RequestError> {
        let found = |text: &str| Ok(Some(text.to_owned()));
        let body = |number: u32| format!("{{\"self-test\":{number}}}").into_bytes();
        let put = async |number, etag| self.bucket.call().put(key, body(number), None, etag).await;
        let Some(first) = put(1, None).await? else {
            return found("a first create was refused as if the object were there");
        };
        if put(2, None).await?.is_some() {
            return found("If-None-Match: * was ignored: a second create was answered 200");
        }
        if put(3, Some(NO_ETAG)).await?.is_some() {
            return found(
                "If-Match was ignored: a write on an ETag that never was is answered 200",
            );
        }
        let Some(second) = put(4, Some(&first)).await? else {
            return found("If-Match with the ETag that was just given is refused");
        };
        if put(5, Some(&first)).await?.is_some() {
            return found("If-Match was ignored: a write on an earlier ETag was answered 200");
        }
        match self.bucket.call().get(key, None).await? {
            GetOutcome::Found { body: read, etag, .. } if read == body(4) && etag == second => {}
            _ => return found("a read after a write does not show what was written"),
        }
        let listed = self.bucket.call().list(folder).await?;
        if !listed.objects.iter().any(|meta| meta.location == *key) {
            return found("a listing after a write does not show it");
        }
        Ok(None)
    }

    pub(super) async fn findings(&self) -> Result<Vec<Finding>, StoreError> {
        let config = &self.config;
        let timeout = whole_ms(config.timeout);
        let mut findings = vec![
            Finding::ok("server", format!("{}, region {}", config.place(), config.region)),
            Finding::ok("conditions", "conditional writes were honoured when it was opened"),
            Finding::ok("timeout", format!("every call ends within {timeout} ms")),
            self.wire(),
        ];
        let (versioning, at) = match self.bucket.call().versioning().await {
            Ok((body, at)) => (versions(&body), at),
            Err(error) if error.status() > 0 => {
                (Finding::ok("versioning", "this user may not ask"), error.outcome.at())
            }
            Err(error) => return Err(error.into()),
        };
        findings.extend(at.map(clock));
        findings.push(versioning);
        Ok(findings)
    }

    fn wire(&self) -> Finding {
        match self.config.is_open_to_others() {
            false => Finding::ok("tls", "no request leaves this machine unencrypted"),
            true => Finding::warn(
                "tls",
                "requests are not encrypted; signatures hide the key, not the data",
                "use an endpoint that begins with https://",
            ),
        }
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

/// How far this machine's clock is from the server's.
fn clock(theirs: i64) -> Finding {
    let ours = SystemClock.wall_ms() / 1_000;
    let skew = ours.abs_diff(u64::try_from(theirs).unwrap_or(0));
    let why = "set the clock: requests are refused when it is off by 15 minutes";
    let detail = format!("this machine's clock and the server's differ by {skew} s");
    Finding::warn_if(skew > SKEW_MAX_SECONDS, "clock", detail, why)
}
