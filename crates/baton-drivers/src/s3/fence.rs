//! Fenced writes of your own objects: the highest epoch that wrote an object wins.
//!
//! ```text
//!   HEAD object ──► x-amz-meta-baton-epoch higher than ours? ──► StaleEpoch
//!        ▲                  │ no
//!        └──── 412 ◄── PUT if it is still that ETag, with our epoch
//! ```
//!
//! The ETag of an object is made from its *bytes*. If two terms wrote the same bytes, a paused
//! writer of the first could not tell, and would overwrite the second. So every body must contain a
//! mark that no other write has, and a body without it is refused. What cannot hold a mark, such as
//! a large binary file, is written under a name of its own, and the small object that *points* to
//! it is the one to fence.
//!
//! For people a fence goes by the key of its object: those of sweeps lie under `<prefix>/fences/`
//! and are listed; an object of the user's own is its own fence, and is reset by its key.

use baton_core::ids::Epoch;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, PutMode, PutOptions, UpdateVersion,
};

use baton_store::{StaleEpoch, StoreError};

use super::bucket::{Bucket, PAGE_MAX};
use super::config::S3Config;
use super::{connect, random};
use crate::fences::{FencesError, StoredFence};

/// The name of the metadata that holds the epoch; S3 shows it as `x-amz-meta-baton-epoch`.
const EPOCH: &str = "baton-epoch";

/// Why a write was not admitted. After a write the outcome may be unknown: read the object, and
/// look whether it has the mark.
pub type FenceError = crate::FenceError<Error>;

impl From<Error> for FenceError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// The fence of one object: the highest epoch that was admitted wins. An object that was never
/// fenced counts as written in epoch 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    key: Path,
}

impl Fence {
    /// The fence of the object with this key.
    pub fn new(key: impl Into<Path>) -> Self {
        Self { key: key.into() }
    }

    /// Writes the object, unless a later epoch has written it. `body` makes what it is to say from
    /// a mark that must be in it; it is asked again if another writer came first.
    ///
    /// Turn the client's own retries off (`RetryConfig { max_retries: 0, .. }`): a repeated write
    /// that had succeeded is reported as lost.
    pub async fn put(
        &self,
        objects: &dyn ObjectStore,
        epoch: impl Into<Epoch>,
        body: impl Fn(&str) -> Vec<u8>,
    ) -> Result<(), FenceError> {
        let epoch = epoch.into().grantable()?;
        let resource = || self.key.to_string();
        loop {
            let mode = match self.look(objects).await? {
                None => PutMode::Create,
                Some((highest, _)) if highest > epoch => {
                    return Err(StaleEpoch { resource: resource(), given: epoch, highest }.into());
                }
                Some((_, version)) => PutMode::Update(version),
            };
            let chance =
                random().map_err(|problem| FenceError::NoRandomness(problem.to_string()))?;
            let mark = format!("{epoch}-{chance:032x}");
            let bytes = body(&mark);
            if !bytes.windows(mark.len()).any(|part| part == mark.as_bytes()) {
                return Err(FenceError::NoMark { resource: resource(), mark });
            }
            let attribute = (Attribute::Metadata(EPOCH.into()), epoch.to_string());
            let attributes = Attributes::from_iter([attribute]);
            let options = PutOptions { mode, attributes, ..PutOptions::default() };
            match objects.put_opts(&self.key, bytes.into(), options).await {
                Ok(_) => return Ok(()),
                // Another writer was first: look at its epoch.
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The highest epoch that wrote the object; `None` if there is no such object.
    pub async fn highest(&self, objects: &dyn ObjectStore) -> Result<Option<Epoch>, FenceError> {
        Ok(self.look(objects).await?.map(|(epoch, _)| epoch))
    }

    /// Writes the object as it is, without an epoch: it counts as never fenced. For a person who
    /// knows that no earlier leader writes any more.
    async fn forget(&self, objects: &dyn ObjectStore) -> Result<(), FenceError> {
        let found = objects.get_opts(&self.key, GetOptions::default()).await?;
        let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
        let epoch = Attribute::Metadata(EPOCH.into());
        let kept = found.attributes.iter().filter(|(name, _)| **name != epoch);
        let attributes = Attributes::from_iter(kept.map(|(name, it)| (name.clone(), it.clone())));
        let mode = PutMode::Update(UpdateVersion { e_tag, version });
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let body = found.bytes().await?;
        objects.put_opts(&self.key, body.into(), options).await?;
        Ok(())
    }

    async fn look(
        &self,
        objects: &dyn ObjectStore,
    ) -> Result<Option<(Epoch, UpdateVersion)>, FenceError> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let found = match objects.get_opts(&self.key, options).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let epoch = match found.attributes.get(&Attribute::Metadata(EPOCH.into())) {
            None => Epoch::NONE,
            Some(value) => {
                let text: &str = value.as_ref();
                let foreign = |_| FenceError::Foreign {
                    resource: self.key.to_string(),
                    found: format!("its metadata {EPOCH} is {text:?}; remove the object"),
                };
                Epoch(text.parse().map_err(foreign)?)
            }
        };
        let version = UpdateVersion { e_tag: found.meta.e_tag, version: found.meta.version };
        Ok(Some((epoch, version)))
    }
}

/// The bucket of a URL, and the folder of its sweeps' fences.
fn opened(scheme: &str, rest: &str) -> Result<(Bucket, Path), FencesError> {
    let config = S3Config::parse(scheme, rest)?;
    let folder = Path::from(format!("{}/fences", config.prefix));
    Ok((connect::bucket(&config)?, folder))
}

fn checked<T>(done: Result<T, FenceError>) -> Result<T, StoreError> {
    done.map_err(|refused| match refused {
        FenceError::Store(Error::Precondition { .. } | Error::AlreadyExists { .. }) => {
            let detail = "the object was written meanwhile; is a leader still writing?".to_owned();
            StoreError::Refused { detail }
        }
        refused => {
            let detail = refused.to_string().lines().next().unwrap_or_default().to_owned();
            match refused {
                FenceError::Store(_) => StoreError::Unavailable { detail },
                _ => StoreError::Refused { detail },
            }
        }
    })
}

pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let (bucket, folder) = opened(scheme, rest)?;
    let (folder, mut fences, mut next) = (format!("{folder}/"), Vec::new(), None);
    loop {
        // A call of its own for each page: there may be any number.
        let page = bucket.call().page(&folder, next, PAGE_MAX).await.map_err(StoreError::from)?;
        for meta in page.objects {
            let fence = Fence::new(meta.location.clone());
            if let Some(epoch) = checked(fence.highest(&bucket.store).await)? {
                fences.push(StoredFence { resource: meta.location.to_string(), epoch });
            }
        }
        next = page.next;
        if next.is_none() {
            return Ok(fences);
        }
    }
}

/// Takes the fence of an object away, and says how high it was.
pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let (bucket, folder) = opened(scheme, rest)?;
    let Ok(key) = Path::parse(resource) else { return Ok(None) };
    let fence = Fence::new(key.clone());
    let highest = checked(fence.highest(&bucket.store).await)?;
    let highest = highest.filter(|epoch| *epoch > Epoch::NONE);
    if highest.is_none() {
        return Ok(None);
    }
    if key.prefix_matches(&folder) {
        bucket.call().delete(&key, None).await.map_err(StoreError::from)?;
    } else {
        checked(fence.forget(&bucket.store).await)?;
    }
    Ok(highest)
}
