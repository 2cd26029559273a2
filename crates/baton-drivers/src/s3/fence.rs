//! Fenced writes of your own objects: the highest epoch that wrote an object wins.
//!
//! ```text
//!   HEAD object ──► x-amz-meta-baton-epoch higher than ours? ──► Behind
//!        ▲                  │ no
//!        └──── 412 ◄── PUT if it is still that ETag, with our epoch
//! ```
//!
//! The ETag of an object is made from its *bytes*. If two terms wrote the same bytes, a paused
//! writer of the first could not tell, and would overwrite the second. So every body must contain a
//! mark that no other write has, and a body without it is refused. What cannot hold a mark, such as
//! a large binary file, is written under a name of its own, and the small object that *points* to
//! it is the one to fence.

use baton_core::ids::Epoch;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, PutMode, PutOptions, UpdateVersion,
};

use super::random;

/// The name of the metadata that holds the epoch; S3 shows it as `x-amz-meta-baton-epoch`.
const EPOCH: &str = "baton-epoch";

/// Why an object was not written, or may not have been.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// A later epoch was here.
    #[error("{resource}: epoch {given} is behind {highest}; its term is over, so stop")]
    Behind {
        /// The object's key.
        resource: String,
        /// The epoch that was refused.
        given: Epoch,
        /// The epoch that wrote the object.
        highest: Epoch,
    },
    /// The body lacks the mark.
    #[error("{resource}: the body does not contain the mark {mark}; put it anywhere into it")]
    NoMark {
        /// The object's key.
        resource: String,
        /// What it should contain.
        mark: String,
    },
    /// The object was written by something that does not say in which epoch.
    #[error("{resource}: its metadata baton-epoch is {found:?} and no number; remove the object")]
    Foreign {
        /// The object's key.
        resource: String,
        /// What the metadata says.
        found: String,
    },
    /// The system gave no randomness for a mark.
    #[error("no random number can be had ({0})")]
    NoChance(String),
    /// The store failed. After a write the outcome may be unknown: read the object, and look
    /// whether it has the mark.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Writes an object, unless a later epoch has written it. `body` makes what it is to say from a
/// mark that must be in it; it is asked again if another writer came first.
///
/// An object that was never fenced counts as written in epoch 0. Turn the client's own retries off
/// (`RetryConfig { max_retries: 0, .. }`): a repeated write that had succeeded is told as lost.
pub async fn put(
    store: &dyn ObjectStore,
    key: &Path,
    epoch: Epoch,
    body: impl Fn(&str) -> Vec<u8>,
) -> Result<(), FenceError> {
    let resource = || key.to_string();
    loop {
        let mode = match look(store, key).await? {
            None => PutMode::Create,
            Some((highest, _)) if highest > epoch => {
                return Err(FenceError::Behind { resource: resource(), given: epoch, highest });
            }
            Some((_, version)) => PutMode::Update(version),
        };
        let chance = random().map_err(|problem| FenceError::NoChance(problem.to_string()))?;
        let mark = format!("{epoch}-{chance:032x}");
        let bytes = body(&mark);
        if !bytes.windows(mark.len()).any(|part| part == mark.as_bytes()) {
            return Err(FenceError::NoMark { resource: resource(), mark });
        }
        let attribute = (Attribute::Metadata(EPOCH.into()), epoch.to_string());
        let attributes = Attributes::from_iter([attribute]);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        match store.put_opts(key, bytes.into(), options).await {
            Ok(_) => return Ok(()),
            // Somebody else wrote: look who.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The epoch that wrote the object; `None` if there is no such object.
pub async fn epoch(store: &dyn ObjectStore, key: &Path) -> Result<Option<Epoch>, FenceError> {
    Ok(look(store, key).await?.map(|(epoch, _)| epoch))
}

async fn look(
    store: &dyn ObjectStore,
    key: &Path,
) -> Result<Option<(Epoch, UpdateVersion)>, FenceError> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    let found = match store.get_opts(key, options).await {
        Ok(found) => found,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let epoch = match found.attributes.get(&Attribute::Metadata(EPOCH.into())) {
        None => Epoch::NONE,
        Some(value) => {
            let text: &str = value.as_ref();
            let foreign =
                |_| FenceError::Foreign { resource: key.to_string(), found: text.to_owned() };
            Epoch(text.parse().map_err(foreign)?)
        }
    };
    let version = UpdateVersion { e_tag: found.meta.e_tag, version: found.meta.version };
    Ok(Some((epoch, version)))
}
