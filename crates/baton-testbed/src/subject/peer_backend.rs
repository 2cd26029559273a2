//! What a handle on a process has on this side: the declaration, and hints.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use baton_core::ids::Namespace;

use baton_store::{
    Answer, Backend, Call, Capability, Declaration, Finding, HintStream, Store, StoreError,
};

/// Stores that are kept open until the next case begins.
pub type OpenStores = Arc<Mutex<Vec<Arc<dyn Store>>>>;

/// Declares what the process's store declares, and subscribes here: a hint comes from the server,
/// whichever process caused it.
pub struct PeerBackend {
    pub declaration: Declaration,
    pub url: String,
    pub open_stores: OpenStores,
}

impl PeerBackend {
    async fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        let unavailable = |error| StoreError::Unavailable { detail: format!("{error}") };
        baton_drivers::open(&self.url).await.map_err(unavailable)
    }
}

#[async_trait]
impl Backend for PeerBackend {
    fn declaration(&self) -> Declaration {
        self.declaration.clone()
    }

    async fn call(&self, _namespace: &Namespace, _call: Call) -> Result<Answer, StoreError> {
        unreachable!("calls are made in the process")
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        if !self.declaration.has(Capability::Push) {
            return Err(StoreError::Unsupported(Capability::Push));
        }
        let store = self.open().await?;
        let hints = store.hints(namespace).await;
        self.open_stores.lock().expect("no holder panics").push(store);
        hints
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.open().await?.examine().await
    }
}
