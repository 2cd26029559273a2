//! The fences that stand in a store, for people: which there are, and taking one away.
//!
//! ```text
//!   list(url, namespace) ────────────► <prefix>fences      a table: PostgreSQL, MySQL, SQLite
//!   reset(url, namespace, resource) ─► <prefix>fence:{…}   keys: Redis
//!                                      <prefix>/fences/…   objects: S3, or one that was fenced
//!                                      …/NAMESPACE/fences  keys of the namespace: etcd
//! ```
//!
//! The URL is that of the store that holds the data. A fence that was reset admits any epoch: first
//! make sure that no leader of an earlier term can still write.

use baton_core::ids::{Epoch, Namespace};
use baton_store::StoreError;
use serde::Serialize;

use crate::OpenError;
use crate::driver::{DriverError, Fields, Record};
use crate::open::split_scheme;

/// A fence, and the highest epoch that was admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredFence {
    /// The resource, as errors name it.
    pub resource: String,
    /// The highest epoch that was admitted.
    pub epoch: Epoch,
}

/// Why fences cannot be looked at or reset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FencesError {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store keeps none.
    #[error("{scheme}:// holds no fences; name the store that your data is in")]
    Unfenced {
        /// What was given.
        scheme: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The fences of the store that the URL names, sorted by resource. Nothing is made or written. On
/// etcd they belong to the namespace; elsewhere it does not matter.
pub async fn list(url: &str, namespace: &Namespace) -> Result<Vec<StoredFence>, FencesError> {
    let (scheme, rest) = split_scheme(url)?;
    let found: Result<Vec<StoredFence>, FencesError> = match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => crate::sqlite::fence::list(rest),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::fence::list(scheme, rest).await,
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => crate::mysql::fence::list(scheme, rest).await,
        #[cfg(feature = "redis")]
        "redis" | "rediss" => crate::redis::fence::list(scheme, rest).await,
        #[cfg(feature = "s3")]
        "s3" => crate::s3::fence::list(scheme, rest).await,
        #[cfg(feature = "etcd")]
        "etcd" => crate::etcd::fence::list(scheme, rest, namespace).await,
        _ => Err(FencesError::Unfenced { scheme: scheme.to_owned() }),
    };
    let mut found = found?;
    found.sort_by(|a, b| a.resource.cmp(&b.resource));
    Ok(found)
}

/// Resets the fence of this resource, so that any epoch is admitted next, and returns the highest
/// that had been; `None` if there is no such fence.
pub async fn reset(
    url: &str,
    namespace: &Namespace,
    resource: &str,
) -> Result<Option<Epoch>, FencesError> {
    let (scheme, rest) = split_scheme(url)?;
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => crate::sqlite::fence::reset(rest, resource),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::fence::reset(scheme, rest, resource).await,
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => crate::mysql::fence::reset(scheme, rest, resource).await,
        #[cfg(feature = "redis")]
        "redis" | "rediss" => crate::redis::fence::reset(scheme, rest, resource).await,
        #[cfg(feature = "s3")]
        "s3" => crate::s3::fence::reset(scheme, rest, resource).await,
        #[cfg(feature = "etcd")]
        "etcd" => crate::etcd::fence::reset(scheme, rest, namespace, resource).await,
        _ => Err(FencesError::Unfenced { scheme: scheme.to_owned() }),
    }
}

/// The fences in the rows of a register.
pub(crate) fn stored<F: Fields>(rows: &[F]) -> Result<Vec<StoredFence>, FencesError> {
    let fences = Record::all(rows, "a fence", |record| {
        let resource = String::from_utf8_lossy(record.bytes("resource")?).into_owned();
        Ok(StoredFence { resource, epoch: Epoch(record.number("epoch")?) })
    });
    Ok(fences.map_err(DriverError::into_store_error)?)
}
