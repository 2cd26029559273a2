//! A service that was added to a running node, and can be stopped before the node leaves.

use std::sync::Arc;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};

use super::{Progress, RegisteredService};
use crate::plugin::PluginSet;
use crate::shared::Shared;

/// A service of a running node. The service goes on when this is dropped.
pub struct ServiceHandle {
    pub(crate) service: Arc<RegisteredService>,
    pub(crate) plugins: PluginSet,
    pub(crate) node: Arc<Shared>,
}

impl ServiceHandle {
    /// Tells the service to stop, cancels it after `grace`, and waits until it has ended. Its name
    /// is free then.
    pub async fn stop(self, grace: Duration) {
        self.service.life.end(SystemClock.now() + grace);
        let mut progress = self.service.progress.subscribe();
        tokio::select! {
            biased;
            ended = progress.wait_for(|it| *it == Progress::Ended) => {
                drop(ended.expect("the sender lives as long as the service it is asked of"));
            }
            _ = self.node.left() => {}
        }
        self.plugins.remove_service(&self.service);
    }
}

impl std::fmt::Debug for ServiceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.service.registered.name;
        f.debug_struct("ServiceHandle").field("service", name).finish_non_exhaustive()
    }
}
