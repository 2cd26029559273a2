//! A store with a layer around it.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;

use crate::contract::{Backend, Contract, HintStream};
use crate::election::Election;
use crate::error::StoreError;
use crate::finding::Finding;

/// Decides how a call of the store inside goes.
#[async_trait]
pub trait Layer<C: Contract = Election>: Send + Sync {
    /// Makes the call, or does not. The answer is of the same kind as the call.
    async fn call(
        &self,
        inner: &dyn Backend<C>,
        namespace: &Namespace,
        call: C::Call,
    ) -> Result<C::Answer, StoreError>;
}

/// A store with a layer around it. It declares what the store inside declares.
pub struct Wrapped<L, C: Contract = Election> {
    inner: Arc<dyn Backend<C>>,
    layer: L,
}

impl<C: Contract, L: Layer<C>> Wrapped<L, C> {
    /// Puts the layer around the store.
    pub fn new(inner: Arc<dyn Backend<C>>, layer: L) -> Self {
        Self { inner, layer }
    }

    /// The layer, to be told or asked something.
    pub fn layer(&self) -> &L {
        &self.layer
    }
}

#[async_trait]
impl<C: Contract, L: Layer<C>> Backend<C> for Wrapped<L, C> {
    fn declaration(&self) -> C::Declaration {
        self.inner.declaration()
    }

    async fn call(&self, namespace: &Namespace, call: C::Call) -> Result<C::Answer, StoreError> {
        self.layer.call(&*self.inner, namespace, call).await
    }

    async fn hints(&self, namespace: &Namespace) -> Result<HintStream<C>, StoreError> {
        self.inner.hints(namespace).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.inner.examine().await
    }
}
