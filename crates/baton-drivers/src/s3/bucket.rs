//! The only place that talks to the server: one request each, never repeated, each with a deadline.

use std::future::Future;
use std::time::Duration;

use baton_store::StoreError;
use object_store::aws::{AmazonS3, AwsAuthorizer};
use object_store::client::{HttpRequest, HttpRequestBody, HttpService};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, UpdateVersion,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::IF_MATCH;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::error::RequestError;
use super::observing_client::{ObservingClient, RequestOutcome, observed};

/// The name of the metadata that holds a node's count of beats. It is no part of the body, and so
/// not of its ETag: a record that says nothing new keeps it.
const BEAT: &str = "baton-beat";

/// No page of a listing has more.
pub(super) const PAGE_MAX: usize = 1_000;

/// How many requests of one call are under way at once.
const AT_ONCE: usize = 16;

/// What stands as it is in the address of an object.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

#[derive(Debug)]
pub(super) enum GetOutcome {
    Absent,
    /// It is the one that is known already.
    Same,
    Found {
        body: Vec<u8>,
        etag: String,
        /// The count of beats beside it, if there is one.
        beat: Option<u64>,
        /// When it was written, in Unix seconds of the server's.
        written: i64,
    },
}

/// What a folder holds, or what begins with a prefix.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) objects: Vec<ObjectMeta>,
    pub(super) folders: Vec<Path>,
    /// When, in Unix seconds of the server's.
    pub(super) at: Option<i64>,
    /// Where the next page begins, if this is one and there is another.
    pub(super) next: Option<String>,
}

impl Listing {
    /// The objects that are this many seconds old, by the server's clock; none if it told no time.
    pub(super) fn older_than(self, seconds: i64) -> Vec<ObjectMeta> {
        let Some(at) = self.at else { return Vec::new() };
        let is_old = |meta: &ObjectMeta| at - meta.last_modified.timestamp() >= seconds;
        self.objects.into_iter().filter(is_old).collect()
    }
}

/// The bucket, and how to reach it. Its requests are made by [`Bucket::call`].
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) store: AmazonS3,
    /// For what the library has no call for.
    pub(super) client: ObservingClient,
    pub(super) url: String,
    pub(super) region: String,
    /// How long a call may take.
    pub(super) timeout: Duration,
}

/// The bucket as one call uses it: all its requests have the same deadline.
#[derive(Clone, Debug)]
pub(super) struct BucketCall {
    bucket: Bucket,
    pub(super) deadline: Instant,
}

impl Bucket {
    /// For the requests of a call that begins now.
    pub(super) fn call(&self) -> BucketCall {
        BucketCall { bucket: self.clone(), deadline: Instant::now() + self.timeout }
    }
}

impl BucketCall {
    /// Writes an object if it is still the one with this ETag, or if there is still none, and gives
    /// its new ETag. `None` if the write is lost: the condition did not hold, or another write was
    /// under way. Then read, and decide anew.
    pub(super) async fn put(
        &self,
        key: &Path,
        body: Vec<u8>,
        beat: Option<u64>,
        known: Option<&str>,
    ) -> Result<Option<String>, RequestError> {
        let mode = known.map_or(PutMode::Create, |etag| {
            PutMode::Update(UpdateVersion { e_tag: Some(etag.to_owned()), version: None })
        });
        let beat = beat.map(|beat| (Attribute::Metadata(BEAT.into()), beat.to_string()));
        let attributes = Attributes::from_iter(beat);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let request = async {
            let written = self.bucket.store.put_opts(key, body.into(), options).await?;
            written.e_tag.ok_or_else(|| unexpected("the answer names no ETag"))
        };
        match self.answered("PUT", key, request).await {
            Ok((etag, _)) => Ok(Some(etag)),
            Err(error) if matches!(error.status(), 409 | 412) => Ok(None),
            Err(error) if known.is_some() && error.is_absent() => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn get(
        &self,
        key: &Path,
        known: Option<&str>,
    ) -> Result<GetOutcome, RequestError> {
        let if_none_match = known.map(str::to_owned);
        let options = GetOptions { if_none_match, ..GetOptions::default() };
        let request = async {
            let found = self.bucket.store.get_opts(key, options).await?;
            let etag = found.meta.e_tag.clone();
            let beat = found.attributes.get(&Attribute::Metadata(BEAT.into()));
            let beat = beat.and_then(|beat| beat.parse().ok());
            let written = found.meta.last_modified.timestamp();
            Ok((found.bytes().await?.to_vec(), etag, beat, written))
        };
        match self.answered("GET", key, request).await {
            Ok(((body, Some(etag), beat, written), _)) => {
                Ok(GetOutcome::Found { body, etag, beat, written })
            }
            // Nothing can be written on the condition that this is still the object.
            Ok((_, at)) => Err(RequestError {
                request: format!("GET {key}"),
                writes: false,
                outcome: RequestOutcome::Answered { status: 200, code: "without ETag".into(), at },
            }),
            Err(error) if error.status() == 304 => Ok(GetOutcome::Same),
            Err(error) if error.is_absent() => Ok(GetOutcome::Absent),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn list(&self, folder: &Path) -> Result<Listing, RequestError> {
        let request = self.bucket.store.list_with_delimiter(Some(folder));
        let (found, at) = self.answered("LIST", folder, request).await?;
        Ok(Listing { objects: found.objects, folders: found.common_prefixes, at, next: None })
    }

    pub(super) async fn page(
        &self,
        prefix: &str,
        token: Option<String>,
        most: usize,
    ) -> Result<Listing, RequestError> {
        let options = PaginatedListOptions {
            max_keys: Some(most),
            page_token: token,
            ..PaginatedListOptions::default()
        };
        let request = self.bucket.store.list_paginated(Some(prefix), options);
        let (found, at) = self.answered("LIST", &Path::from(prefix), request).await?;
        let next = found.page_token;
        Ok(Listing { objects: found.result.objects, folders: Vec::new(), at, next })
    }

    /// All objects whose keys begin so, and the earliest time at which one of them was listed.
    pub(super) async fn all(&self, prefix: &str) -> Result<Listing, RequestError> {
        let mut listing = self.page(prefix, None, PAGE_MAX).await?;
        while listing.next.is_some() {
            let page = self.page(prefix, listing.next, PAGE_MAX).await?;
            listing.objects.extend(page.objects);
            listing.next = page.next;
        }
        Ok(listing)
    }

    /// Copies an object at the server, over whatever is there.
    pub(super) async fn copy(&self, from: &Path, to: &Path) -> Result<(), RequestError> {
        self.answered("COPY", from, self.bucket.store.copy(from, to)).await.map(drop)
    }

    /// Is it still the object that was listed?
    pub(super) async fn is_still(&self, listed: &ObjectMeta) -> Result<bool, RequestError> {
        let key = &listed.location;
        match self.answered("HEAD", key, self.bucket.store.head(key)).await {
            Ok((found, _)) => {
                let (then, now) =
                    (listed.last_modified.timestamp(), found.last_modified.timestamp());
                Ok(found.e_tag == listed.e_tag && then == now)
            }
            Err(error) if error.is_absent() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes an object. If an ETag is given, only one that still has it, where the server honours
    /// that. Says whether it did.
    pub(super) async fn delete(
        &self,
        key: &Path,
        etag: Option<&str>,
    ) -> Result<bool, RequestError> {
        let target = utf8_percent_encode(key.as_ref(), PLAIN).to_string();
        let request = self.signed(Method::DELETE, &target, etag);
        match self.answered("DELETE", key, request).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_absent() => Ok(false),
            Err(error) if etag.is_some() && matches!(error.status(), 409 | 412) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The XML that says whether old versions of objects are kept, and the server's time.
    pub(super) async fn versioning(&self) -> Result<(String, Option<i64>), RequestError> {
        let request = self.signed(Method::GET, "?versioning", None);
        self.answered("GET", "?versioning", request).await
    }

    /// Sends a request that the library has no call for, and reads the body of the answer.
    async fn signed(
        &self,
        method: Method,
        target: &str,
        if_match: Option<&str>,
    ) -> object_store::Result<String> {
        let Bucket { store, client, url, region, .. } = &self.bucket;
        let credential = store.credentials().get_credential().await?;
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = method;
        *request.uri_mut() = format!("{url}/{target}").parse().map_err(unexpected)?;
        if let Some(etag) = if_match {
            request.headers_mut().insert(IF_MATCH, etag.parse().map_err(unexpected)?);
        }
        AwsAuthorizer::new(&credential, "s3", region).try_authorize(&mut request, None)?;
        let answer = client.call(request).await.map_err(unexpected)?;
        let status = answer.status();
        let body = answer.into_body().bytes().await.map_err(unexpected)?;
        match status.is_success() {
            true => Ok(String::from_utf8_lossy(&body).into_owned()),
            false => Err(unexpected(status.to_string())),
        }
    }

    /// Waits for the answer, but not beyond the deadline; then it may still be on its way. Gives
    /// what was answered, and when by the server's clock in Unix seconds.
    async fn answered<T>(
        &self,
        verb: &str,
        key: &(impl std::fmt::Display + ?Sized),
        request: impl Future<Output = object_store::Result<T>>,
    ) -> Result<(T, Option<i64>), RequestError> {
        let outcome = match timeout_at(self.deadline, observed(request)).await {
            Err(_) => RequestOutcome::NotAnswered("no answer in time".to_owned()),
            Ok((Ok(done), outcome)) => return Ok((done, outcome.at())),
            // It was carried out, and what came back cannot be read.
            Ok((Err(error), RequestOutcome::Answered { status: 200..300, .. })) => {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default().chars().take(200).collect();
                RequestOutcome::NotAnswered(line)
            }
            Ok((Err(_), outcome)) => outcome,
        };
        let writes = !matches!(verb, "GET" | "HEAD" | "LIST");
        Err(RequestError { request: format!("{verb} {key}"), writes, outcome })
    }
}

/// Carries this out for each of them, several at once, and hands over what comes of each.
pub(super) async fn for_each<T, R, F>(
    items: Vec<T>,
    work: impl Fn(T) -> F,
    mut then: impl FnMut(R),
) -> Result<(), StoreError>
where
    R: Send + 'static,
    F: Future<Output = Result<R, StoreError>> + Send + 'static,
{
    let (mut items, mut running) = (items.into_iter(), JoinSet::new());
    loop {
        while running.len() < AT_ONCE
            && let Some(item) = items.next()
        {
            running.spawn(work(item));
        }
        let Some(done) = running.join_next().await else { return Ok(()) };
        then(done.expect("a request does not panic")?);
    }
}

fn unexpected(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic { store: "s3", source: problem.into() }
}
