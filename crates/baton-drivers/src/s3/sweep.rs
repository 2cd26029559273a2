//! Old objects of the user's own: a page of the listing a batch.
//!
//! ```text
//!   fence object: our epoch, unless a later one wrote it ──► StaleEpoch
//!   LIST one page ── LastModified + age + 1 s <= the answer's Date? ──► due
//!   each: COPY to the archive, or the callback, for all that are due
//!         HEAD: is it still the one that was listed? ── DELETE if it still has that ETag
//! ```
//!
//! What cannot be exact here: S3 has no step that covers two objects. So the fence is written
//! before the page, and a leader that is paused after that goes on when it wakes, with objects
//! that are still those it listed, and are due. An object that is rewritten between HEAD and DELETE
//! is lost, unless the server honours `If-Match` when it deletes. Times are whole seconds.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Epoch;
use baton_store::StoreError;
use baton_store::sweep::{Sweep, SweepError, Swept};
use object_store::ObjectMeta;
use object_store::path::Path;
use serde_json::Value;
use tokio::sync::Mutex;

use super::bucket::{Bucket, Listing, PAGE_MAX, for_each};
use super::config::S3Config;
use super::connect;
use super::fence::Fence;
use crate::sweep::{InvalidSweep, Objects, Strategy};

/// What baton keeps in its own prefix, and the fences of sweeps.
const OWN: [&str; 3] = ["namespace=", "self-test/", "fences/"];

struct S3Sweep {
    name: String,
    bucket: Bucket,
    objects: Objects,
    strategy: Strategy,
    fence: Fence,
    /// Where the next page begins; the whole listing is gone through page by page.
    place: Mutex<Option<String>>,
}

pub(crate) fn sweep(
    scheme: &str,
    rest: &str,
    objects: Objects,
    strategy: Strategy,
) -> Result<Arc<dyn Sweep>, InvalidSweep> {
    if objects.prefix.is_empty() {
        return Err(InvalidSweep::Empty { what: "the prefix of objects" });
    }
    let target = || format!("prefix {}", objects.prefix);
    if objects.age.is_zero() {
        return Err(InvalidSweep::NoAge { target: target() });
    }
    match &strategy {
        Strategy::SoftDelete { .. } => {
            return Err(InvalidSweep::Strategy { scheme: "s3", what: "mark an object as deleted" });
        }
        Strategy::Archive { into } if into.is_empty() || into.starts_with(&objects.prefix) => {
            return Err(InvalidSweep::IntoItself { into: into.clone() });
        }
        _ => {}
    }
    let config = S3Config::parse(scheme, rest)?;
    let home = match config.prefix.as_str() {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    };
    let overlaps = |own: &&&str| {
        let own = format!("{home}{own}");
        own.starts_with(&objects.prefix) || objects.prefix.starts_with(&own)
    };
    if let Some(own) = OWN.iter().find(overlaps) {
        return Err(InvalidSweep::Own { target: target(), own: format!("{home}{own}") });
    }
    let bucket = connect::bucket(&config)?;
    let fence = Path::from(format!("{home}fences/ttl:{}", objects.prefix));
    let (name, fence, place) = (format!("s3 {}", target()), Fence::new(fence), Mutex::default());
    Ok(Arc::new(S3Sweep { name, bucket, objects, strategy, fence, place }))
}

impl S3Sweep {
    async fn admit(&self, epoch: Epoch) -> Result<(), SweepError> {
        let body = |mark: &str| mark.as_bytes().to_vec();
        let admitted = self.fence.put(&self.bucket.store, epoch, body).await;
        admitted.map_err(|error| {
            error.into_sweep_error(&self.name, |error| {
                let detail = error.to_string().lines().next().unwrap_or_default().to_owned();
                SweepError::Unavailable { target: self.name.clone(), detail }
            })
        })
    }

    /// Is it over? Both dates may have been cut to a whole second.
    fn is_due(&self, meta: &ObjectMeta, at: i64) -> bool {
        let age = i64::try_from(self.objects.age.as_millis()).unwrap_or(i64::MAX / 2);
        let until = meta.last_modified.timestamp_millis().saturating_add(age);
        until.saturating_add(1_000) <= at.saturating_mul(1_000)
    }

    /// Archives if that is wanted, and removes, many at once. How many went.
    async fn remove(&self, due: Vec<ObjectMeta>) -> Result<u32, SweepError> {
        let work = |meta: ObjectMeta| {
            let archived = match &self.strategy {
                Strategy::Archive { into } => {
                    let rest = meta.location.as_ref().get(self.objects.prefix.len()..);
                    Some(Path::from(format!("{into}{}", rest.unwrap_or_default())))
                }
                _ => None,
            };
            let bucket = self.bucket.call();
            async move {
                let Some(etag) = meta.e_tag.as_deref() else { return Ok(false) };
                if let Some(into) = archived {
                    bucket.copy(&meta.location, &into).await?;
                }
                // It may be another one by now.
                if !bucket.is_still(&meta).await? {
                    return Ok(false);
                }
                Ok(bucket.delete(&meta.location, Some(etag)).await?)
            }
        };
        let mut gone = 0;
        let removed = for_each(due, work, |removed| gone += u32::from(removed));
        removed.await.map_err(|error| self.sweep_error(error))?;
        Ok(gone)
    }

    fn sweep_error(&self, error: StoreError) -> SweepError {
        SweepError::of_store(&self.name, error)
    }
}

#[async_trait]
impl Sweep for S3Sweep {
    fn name(&self) -> &str {
        &self.name
    }

    async fn examine(&self) -> Result<(), SweepError> {
        let page = self.bucket.call().page(&self.objects.prefix, None, 1).await;
        page.map(drop).map_err(|error| self.sweep_error(error.into()))
    }

    async fn batch(&self, epoch: Epoch, limit: u32) -> Result<Swept, SweepError> {
        let mut place = self.place.lock().await;
        self.admit(epoch).await?;
        let most = usize::try_from(limit).unwrap_or(PAGE_MAX).min(PAGE_MAX);
        // An error begins the listing anew.
        let token = place.take();
        let page = self.bucket.call().page(&self.objects.prefix, token, most).await;
        let Listing { objects, at, next, .. } =
            page.map_err(|error| self.sweep_error(error.into()))?;
        let at = at.ok_or_else(|| SweepError::Rejected {
            target: self.name.clone(),
            detail: "the server's answers have no Date; no age can be known".to_owned(),
        })?;
        let due: Vec<ObjectMeta> =
            objects.into_iter().filter(|meta| self.is_due(meta, at)).collect();
        if let (Strategy::Callback(callback), false) = (&self.strategy, due.is_empty()) {
            let records = due.iter().map(record).collect();
            callback.call(&self.name, records).await?;
        }
        let records = self.remove(due).await?;
        let more = next.is_some();
        *place = next;
        Ok(Swept { records, more })
    }
}

/// An object as a callback gets it.
fn record(meta: &ObjectMeta) -> Value {
    Value::from_iter([
        ("key", Value::from(meta.location.as_ref())),
        ("bytes", Value::from(meta.size)),
        ("written_ms", Value::from(meta.last_modified.timestamp_millis())),
        ("etag", Value::from(meta.e_tag.clone())),
    ])
}
