//! What a service is given.

use std::sync::Arc;

use async_trait::async_trait;
use baton_core::Snapshot;
use baton_core::ids::{BootId, Namespace, NodeId};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call, Store, StoreError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::RegisteredService;
use crate::lifeline;
use crate::shared::Shared;

/// Calls of one service to the store that are under way at once; further ones wait. The store's
/// connection is the node's too, whose beats must not queue behind a service.
const CALLS_MAX: usize = 4;

/// The node that a service runs on, and what tells it to stop.
#[derive(Clone)]
pub struct ServiceContext {
    pub(crate) shared: Arc<Shared>,
    service: Arc<RegisteredService>,
    store: Arc<dyn Store>,
}

impl ServiceContext {
    pub(super) fn new(shared: &Arc<Shared>, service: &Arc<RegisteredService>) -> Self {
        let store = with_call_budget(&shared.store);
        Self { shared: shared.clone(), service: service.clone(), store }
    }

    /// The node's namespace.
    pub fn namespace(&self) -> &Namespace {
        &self.shared.namespace
    }

    /// The node's name.
    pub fn node(&self) -> &NodeId {
        &self.shared.id
    }

    /// The node's process: fresh for each start.
    pub fn boot(&self) -> BootId {
        self.shared.boot
    }

    /// The node's store. At most four calls of a service are under way at once, so that the node's
    /// beats do not wait behind them. A service that needs more opens a store of its own.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What the node knew after the last thing that happened to it: the leader, the view, and more.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot()
    }

    /// Waits until the service is to stop: its node leaves, or its handle asks. Cancel safe.
    pub async fn stopped(&self) {
        self.service.life.ended().await;
    }

    /// Is the service to stop?
    pub fn is_stopping(&self) -> bool {
        self.service.life.has_ended()
    }

    /// A token that is cancelled when the service is to stop, for tasks and libraries that take
    /// one.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.service.life.token.child_token()
    }

    /// Waits until a hint of this service's topic came from another node, at once if one came since
    /// the last call. Any number of hints between two calls are one. Hints may be lost: a service
    /// that waits for one also looks now and then. Cancel safe.
    pub async fn hinted(&self) {
        self.service.hinted.notified().await;
    }

    /// Sends a hint to the service of the same name on another node, over that node's lifeline. It
    /// may be lost; false if it certainly was.
    pub async fn hint(&self, to: &NodeId) -> bool {
        match self.shared.lifeline_of(to) {
            Some(address) => {
                let (namespace, topic) = (&self.shared.namespace, &self.service.registered.name);
                lifeline::send_topic(&address, namespace, topic).await.is_ok()
            }
            None => false,
        }
    }
}

impl std::fmt::Debug for ServiceContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.service.registered.name;
        f.debug_struct("ServiceContext").field("service", name).finish_non_exhaustive()
    }
}

/// The node's store, for work whose calls must not keep its beats waiting.
pub(crate) fn with_call_budget(store: &Arc<dyn Store>) -> Arc<dyn Store> {
    Arc::new(Wrapped::new(store.clone(), CallBudget(Semaphore::new(CALLS_MAX))))
}

struct CallBudget(Semaphore);

#[async_trait]
impl Layer for CallBudget {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        let _permit = self.0.acquire().await.expect("it is never closed");
        inner.call(namespace, call).await
    }
}
