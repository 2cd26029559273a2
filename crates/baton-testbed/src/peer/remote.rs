//! A store whose calls are made in another process.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::wrap::Layer;
use baton_store::{Answer, Backend, Call, StoreError};

use super::process::Process;

/// Around any store: calls are made in that process, hints are the store's own.
pub struct Remote(pub Arc<Process>);

#[async_trait]
impl Layer for Remote {
    async fn call(
        &self,
        _inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        self.0.call(namespace, call).await
    }
}
