//! A handle that only looks: what would write is refused here, before any driver sees it.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::{
    Answer, Backend, Call, Declaration, Finding, HintStream, Operation, Store, StoreError,
};

/// What a handle may do to its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Look at what is there. Nothing is made, brought up to date or tried out.
    Read,
    /// Everything: what a node needs is made if it is not there.
    Write,
}

/// A store that was opened with [`Access::Read`].
pub(crate) struct Reader(pub(crate) Arc<dyn Store>);

/// The error of every call that writes.
pub(crate) fn only_reads() -> StoreError {
    StoreError::Refused { detail: "this handle was opened to read; open the store".to_owned() }
}

#[async_trait]
impl Backend for Reader {
    fn declaration(&self) -> Declaration {
        self.0.declaration()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        match call.writes() {
            true => Err(only_reads()),
            false => self.0.call(namespace, call).await,
        }
    }

    async fn hints(&self, _namespace: &Namespace) -> Result<HintStream, StoreError> {
        Err(only_reads())
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        Err(only_reads())
    }
}
