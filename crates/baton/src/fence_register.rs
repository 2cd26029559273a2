//! The fence register: for resources that baton does not store and that cannot compare epochs
//! themselves. The highest epoch that was admitted wins.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_store::{Precondition, StaleEpoch, Store, StoreError, WriteOutcome};

/// Names the documents of the register.
const PREFIX: &str = "fence:";

/// Why an epoch was not admitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenceRegisterError {
    /// The caller's term is over: stop.
    #[error(
        "epoch {} is behind {}, which was admitted to {}; its term is over",
        .0.given, .0.highest, .0.resource
    )]
    StaleEpoch(#[from] StaleEpoch),
    /// A person must look: the register holds something else than an epoch.
    #[error("the fence of {resource} holds something other than an epoch; it was left as it is")]
    Foreign {
        /// The resource.
        resource: String,
    },
    /// Ask again before acting: the register was not reached.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The register of one resource.
///
/// Ask it right before each act on the resource. That narrows the gap between the question and the
/// act. A resource that compares epochs itself has no gap: prefer one where there is a choice.
#[derive(Clone, Debug)]
pub struct FenceRegister {
    store: Arc<dyn Store>,
    namespace: Namespace,
    resource: String,
}

impl FenceRegister {
    /// The register of this resource in this namespace.
    pub fn new(store: Arc<dyn Store>, namespace: Namespace, resource: &str) -> Self {
        Self { store, namespace, resource: resource.to_owned() }
    }

    /// Admits an epoch that is at least as high as every one before it.
    pub async fn admit(&self, given: impl Into<Epoch>) -> Result<(), FenceRegisterError> {
        let given = given.into();
        loop {
            let (highest, version) = self.read().await?;
            if given < highest {
                return Err(StaleEpoch { resource: self.resource.clone(), given, highest }.into());
            }
            if given == highest && version.is_some() {
                return Ok(());
            }
            let expected = version.map_or(Precondition::Absent, Precondition::Version);
            let (name, body) = (self.document(), given.to_string().into_bytes());
            let write = self.store.write_document(&self.namespace, &name, body, expected, None);
            if let WriteOutcome::Written(_) = write.await? {
                return Ok(());
            }
            // Another write was faster: read again.
        }
    }

    /// The highest epoch admitted so far.
    pub async fn highest(&self) -> Result<Epoch, FenceRegisterError> {
        Ok(self.read().await?.0)
    }

    fn document(&self) -> String {
        format!("{PREFIX}{}", self.resource)
    }

    /// The highest epoch, and the version of the document if there is one.
    async fn read(&self) -> Result<(Epoch, Option<u64>), FenceRegisterError> {
        let found = self.store.read_document(&self.namespace, &self.document()).await?;
        let Some(document) = found else { return Ok((Epoch::NONE, None)) };
        let number = std::str::from_utf8(&document.body).ok().and_then(|text| text.parse().ok());
        let foreign = || FenceRegisterError::Foreign { resource: self.resource.clone() };
        Ok((Epoch(number.ok_or_else(foreign)?), Some(document.version)))
    }
}
