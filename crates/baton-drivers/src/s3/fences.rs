//! The fences of a bucket, for people. Each goes by the key of its object: those of sweeps lie
//! under `<prefix>/fences/` and are listed; an object of the user's own is its own fence, and is
//! reset by its key.

use baton_core::ids::Epoch;
use baton_store::StoreError;
use object_store::Error;
use object_store::path::Path;
use tokio::time::Instant;

use super::bucket::{Bucket, PAGE_MAX};
use super::config::Config;
use super::connect;
use super::fence::{Fence, FenceError};
use crate::fences::{FencesError, StoredFence};

struct Opened {
    bucket: Bucket,
    folder: Path,
    config: Config,
}

impl Opened {
    fn new(scheme: &str, rest: &str) -> Result<Self, FencesError> {
        let config = Config::parse(scheme, rest)?;
        let bucket = connect::bucket(&config)?;
        let folder = Path::from(format!("{}/fences", config.prefix));
        Ok(Self { bucket, folder, config })
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.config.timeout
    }
}

fn store_error(refused: &FenceError) -> StoreError {
    let detail = refused.to_string().lines().next().unwrap_or_default().to_owned();
    match refused {
        FenceError::Store(Error::Precondition { .. } | Error::AlreadyExists { .. }) => {
            let detail = "the object was written meanwhile; is a leader still writing?".to_owned();
            StoreError::Refused { detail }
        }
        FenceError::Store(_) => StoreError::Unavailable { detail },
        _ => StoreError::Refused { detail },
    }
}

pub(crate) async fn list(scheme: &str, rest: &str) -> Result<Vec<StoredFence>, FencesError> {
    let opened = Opened::new(scheme, rest)?;
    let (mut fences, mut token) = (Vec::new(), None);
    loop {
        let under = format!("{}/", opened.folder);
        let page = opened.bucket.page(&under, token, PAGE_MAX, opened.deadline()).await;
        let page = page.map_err(StoreError::from)?;
        for meta in page.objects {
            let fence = Fence::new(meta.location.clone());
            if let Some(epoch) = fence
                .highest(&opened.bucket.store)
                .await
                .map_err(|refused| store_error(&refused))?
            {
                fences.push(StoredFence { resource: meta.location.to_string(), epoch });
            }
        }
        token = page.next;
        if token.is_none() {
            return Ok(fences);
        }
    }
}

pub(crate) async fn reset(
    scheme: &str,
    rest: &str,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let opened = Opened::new(scheme, rest)?;
    let Ok(key) = Path::parse(resource) else { return Ok(None) };
    let fence = Fence::new(key.clone());
    let objects = &opened.bucket.store;
    let highest = fence
        .highest(objects)
        .await
        .map_err(|refused| store_error(&refused))?
        .filter(|it| *it > Epoch::NONE);
    if highest.is_none() {
        return Ok(None);
    }
    if key.prefix_matches(&opened.folder) {
        let gone = opened.bucket.delete(&key, opened.deadline()).await;
        gone.map_err(StoreError::from)?;
    } else {
        fence.forget(objects).await.map_err(|refused| store_error(&refused))?;
    }
    Ok(highest)
}
