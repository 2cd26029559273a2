//! A store with a layer around it.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;

use crate::call::{Answer, Call};
use crate::capability::Declaration;
use crate::contract::{HintStream, Store};
use crate::error::StoreError;
use crate::finding::Finding;

/// Decides how a call of the store inside goes.
#[async_trait]
pub trait Layer: Send + Sync {
    /// Makes the call, or does not. The answer is of the same kind as the call.
    async fn call(
        &self,
        inner: &dyn Store,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError>;
}

/// A store with a layer around it. It declares what the store inside declares.
pub struct Wrapped<L> {
    inner: Arc<dyn Store>,
    layer: L,
}

impl<L: Layer> Wrapped<L> {
    /// Puts the layer around the store.
    pub fn new(inner: Arc<dyn Store>, layer: L) -> Self {
        Self { inner, layer }
    }

    /// The layer, to be told or asked something.
    pub fn layer(&self) -> &L {
        &self.layer
    }
}

#[async_trait]
impl<L: Layer> Store for Wrapped<L> {
    fn declaration(&self) -> Declaration {
        self.inner.declaration()
    }

    async fn call(&self, namespace: &Namespace, call: Call) -> Result<Answer, StoreError> {
        self.layer.call(&*self.inner, namespace, call).await
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream, StoreError> {
        self.inner.hints(namespace).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.inner.examine().await
    }
}
