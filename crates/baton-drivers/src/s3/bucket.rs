//! The only place that talks to the server: one request each, never repeated, each with a deadline.

use std::future::Future;
use std::time::{Duration, UNIX_EPOCH};

use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, UpdateVersion,
};
use reqwest::Method;
use reqwest::header::IF_MATCH;
use tokio::time::Instant;

use super::error::RequestError;
use super::observing_client::{Observation, ObservingClient, RequestOutcome};

/// The name of the metadata that holds a node's count of beats. It is no part of the body, and so
/// not of its ETag: a record that says nothing new keeps it.
const BEAT: &str = "baton-beat";

/// No page of a listing has more.
pub(super) const PAGE_MAX: usize = 1_000;

/// A request that is signed in its address is sent at once.
const SIGNED_FOR: Duration = Duration::from_secs(60);

/// What must hold for an object to be written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition<'a> {
    /// There is none.
    Absent,
    /// It is the one with this ETag.
    Matches(&'a str),
}

/// What a conditional write came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// Written; this is its ETag.
    Written(String),
    /// The condition did not hold, or another write was under way: read, and decide anew.
    Lost,
}

/// What a read came to.
#[derive(Debug)]
pub(super) enum Got {
    /// There is none.
    Absent,
    /// It is the one that is known already.
    Same,
    /// This one.
    Found {
        /// What it says.
        body: Vec<u8>,
        /// Which one it is.
        etag: String,
        /// The count of beats beside it, if there is one.
        beat: Option<u64>,
        /// When it was written, in Unix seconds of the server's.
        written: i64,
    },
}

/// What a folder holds.
#[derive(Debug)]
pub(super) struct Listing {
    /// Its objects.
    pub(super) objects: Vec<ObjectMeta>,
    /// The folders in it.
    pub(super) folders: Vec<Path>,
    /// When, in Unix seconds of the server's.
    pub(super) at: Option<i64>,
}

/// A page of what begins so.
#[derive(Debug)]
pub(super) struct Page {
    /// Its objects.
    pub(super) objects: Vec<ObjectMeta>,
    /// When, in Unix seconds of the server's.
    pub(super) at: Option<i64>,
    /// Where the next page begins, if there is one.
    pub(super) next: Option<String>,
}

/// A bucket at a server.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) store: AmazonS3,
    /// For what the library has no call for.
    pub(super) client: ObservingClient,
    /// The bucket's own address.
    pub(super) url: String,
    pub(super) region: String,
}

impl Bucket {
    /// Writes an object if the condition holds.
    pub(super) async fn put(
        &self,
        key: &Path,
        body: Vec<u8>,
        beat: Option<u64>,
        condition: Condition<'_>,
        deadline: Instant,
    ) -> Result<Put, RequestError> {
        let mode = match condition {
            Condition::Absent => PutMode::Create,
            Condition::Matches(etag) => {
                PutMode::Update(UpdateVersion { e_tag: Some(etag.to_owned()), version: None })
            }
        };
        let beat = beat.map(|beat| (Attribute::Metadata(BEAT.into()), beat.to_string()));
        let attributes = Attributes::from_iter(beat);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let request = self.store.put_opts(key, body.into(), options);
        let (done, outcome) = observed(deadline, request).await;
        let absent = matches!(condition, Condition::Matches(_));
        match (done, outcome) {
            (Some(Ok(result)), _) => result.e_tag.map(Put::Written).ok_or_else(|| {
                let outcome = RequestOutcome::NotAnswered("the answer names no ETag".to_owned());
                request_error("PUT", key, true, outcome)
            }),
            (_, RequestOutcome::Answered { status: 409 | 412, .. }) => Ok(Put::Lost),
            (_, RequestOutcome::Answered { status: 404, code, .. })
                if absent && !is_bucket(code.as_deref()) =>
            {
                Ok(Put::Lost)
            }
            (_, outcome) => Err(request_error("PUT", key, true, outcome)),
        }
    }

    /// Reads an object, unless it is the one that is known.
    pub(super) async fn get(
        &self,
        key: &Path,
        known: Option<&str>,
        deadline: Instant,
    ) -> Result<Got, RequestError> {
        let if_none_match = known.map(str::to_owned);
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let request = async {
            let found = self.store.get_opts(key, options).await?;
            let (etag, beat) = (found.meta.e_tag.clone(), beat_of(&found));
            let written = found.meta.last_modified.timestamp();
            Ok((found.bytes().await?.to_vec(), etag, beat, written))
        };
        match observed(deadline, request).await {
            (Some(Ok((body, Some(etag), beat, written))), _) => {
                Ok(Got::Found { body, etag, beat, written })
            }
            (_, RequestOutcome::Answered { status: 304, .. }) => Ok(Got::Same),
            (_, RequestOutcome::Answered { status: 404, code, .. })
                if !is_bucket(code.as_deref()) =>
            {
                Ok(Got::Absent)
            }
            (Some(Err(error)), RequestOutcome::Answered { status: 200, .. }) => {
                Err(request_error("GET", key, false, RequestOutcome::NotAnswered(one_line(&error))))
            }
            (_, outcome) => Err(request_error("GET", key, false, outcome)),
        }
    }

    /// The objects and the folders of a folder.
    pub(super) async fn list(
        &self,
        folder: &Path,
        deadline: Instant,
    ) -> Result<Listing, RequestError> {
        let request = self.store.list_with_delimiter(Some(folder));
        match observed(deadline, request).await {
            (Some(Ok(found)), RequestOutcome::Answered { date, .. }) => {
                let (objects, folders) = (found.objects, found.common_prefixes);
                Ok(Listing { objects, folders, at: seconds(date.as_deref()) })
            }
            (_, outcome) => Err(request_error("LIST", folder, false, outcome)),
        }
    }

    /// A page of the objects whose keys begin so.
    pub(super) async fn page(
        &self,
        prefix: &str,
        token: Option<String>,
        most: usize,
        deadline: Instant,
    ) -> Result<Page, RequestError> {
        let options = PaginatedListOptions {
            max_keys: Some(most),
            page_token: token,
            ..PaginatedListOptions::default()
        };
        let request = self.store.list_paginated(Some(prefix), options);
        match observed(deadline, request).await {
            (Some(Ok(found)), RequestOutcome::Answered { date, .. }) => {
                let objects = found.result.objects;
                Ok(Page { objects, at: seconds(date.as_deref()), next: found.page_token })
            }
            (Some(Err(error)), RequestOutcome::Answered { status: 200, .. }) => {
                let outcome = RequestOutcome::NotAnswered(one_line(&error));
                Err(request_error("LIST", &Path::from(prefix), false, outcome))
            }
            (_, outcome) => Err(request_error("LIST", &Path::from(prefix), false, outcome)),
        }
    }

    /// Copies an object at the server, over whatever is there.
    pub(super) async fn copy(
        &self,
        from: &Path,
        to: &Path,
        deadline: Instant,
    ) -> Result<(), RequestError> {
        match observed(deadline, self.store.copy(from, to)).await {
            (Some(Ok(())), _) => Ok(()),
            (_, outcome) => Err(request_error("COPY", from, true, outcome)),
        }
    }

    /// Is it still the object that was listed?
    pub(super) async fn is_still(
        &self,
        listed: &ObjectMeta,
        deadline: Instant,
    ) -> Result<bool, RequestError> {
        let key = &listed.location;
        match observed(deadline, self.store.head(key)).await {
            (Some(Ok(found)), _) => {
                let (then, now) =
                    (listed.last_modified.timestamp(), found.last_modified.timestamp());
                Ok(found.e_tag == listed.e_tag && then == now)
            }
            (_, RequestOutcome::Answered { status: 404, code, .. })
                if !is_bucket(code.as_deref()) =>
            {
                Ok(false)
            }
            (_, outcome) => Err(request_error("HEAD", key, false, outcome)),
        }
    }

    /// Removes an object if it still has this ETag, where the server honours that. Says whether it
    /// did.
    pub(super) async fn delete_if(
        &self,
        key: &Path,
        etag: &str,
        deadline: Instant,
    ) -> Result<bool, RequestError> {
        let request = async {
            let url = self.store.signed_url(Method::DELETE, key, SIGNED_FOR).await?;
            let sent = self.client.0.delete(url).header(IF_MATCH, etag).send().await;
            Ok(sent)
        };
        let (done, outcome) = observed(deadline, request).await;
        let outcome = match done {
            Some(Ok(Ok(answer))) => match answer.status().as_u16() {
                200..300 => return Ok(true),
                404 | 409 | 412 => return Ok(false),
                status => RequestOutcome::Answered { status, code: None, date: None },
            },
            Some(Ok(Err(error))) if error.is_connect() => {
                RequestOutcome::NotSent(error.to_string())
            }
            Some(Ok(Err(error))) => RequestOutcome::NotAnswered(error.without_url().to_string()),
            Some(Err(_)) => RequestOutcome::NotMade,
            None => outcome,
        };
        Err(request_error("DELETE", key, true, outcome))
    }

    /// Removes an object, whatever it says.
    pub(super) async fn delete(&self, key: &Path, deadline: Instant) -> Result<(), RequestError> {
        match observed(deadline, self.store.delete(key)).await {
            (Some(Ok(()) | Err(Error::NotFound { .. })), _) => Ok(()),
            (_, outcome) => Err(request_error("DELETE", key, true, outcome)),
        }
    }
}

/// The date of an HTTP answer as Unix time in seconds; `None` if it is no such date.
pub(super) fn unix_seconds(date: &str) -> Option<u64> {
    let at = httpdate::parse_http_date(date).ok()?;
    at.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// The server's time in whole seconds.
fn seconds(date: Option<&str>) -> Option<i64> {
    let at = date.and_then(unix_seconds)?;
    i64::try_from(at).ok()
}

fn beat_of(found: &GetResult) -> Option<u64> {
    found.attributes.get(&Attribute::Metadata(BEAT.into()))?.parse().ok()
}

/// Is it the bucket that is not there? That is no answer about an object.
fn is_bucket(code: Option<&str>) -> bool {
    code == Some("NoSuchBucket")
}

fn request_error(method: &str, key: &Path, writes: bool, outcome: RequestOutcome) -> RequestError {
    RequestError { asked: format!("{method} {key}"), writes, outcome }
}

/// Waits for the answer, but not beyond the deadline; then it may still be on its way.
async fn observed<T>(
    deadline: Instant,
    request: impl Future<Output = object_store::Result<T>>,
) -> (Option<object_store::Result<T>>, RequestOutcome) {
    let observation = Observation::default();
    match tokio::time::timeout_at(deadline, observation.follow(request)).await {
        Ok(done) => (Some(done), observation.outcome()),
        Err(_) => (None, RequestOutcome::NotAnswered("no answer in time".to_owned())),
    }
}

fn one_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
