//! Hints that a person changed a schedule: a service, since those hear hints from other processes.

use std::sync::Arc;

use async_trait::async_trait;

use super::jobs::Jobs;
use crate::plugin::PluginError;
use crate::service::{Service, ServiceContext};

/// The name of the service, which is the topic of the hints.
pub(super) const TOPIC: &str = "schedule-edits";

/// Passes hints on to the plugin, if this node leads.
pub(crate) struct EditHints(pub(crate) Arc<Jobs>);

#[async_trait]
impl Service for EditHints {
    fn name(&self) -> &str {
        TOPIC
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        loop {
            tokio::select! {
                () = context.hinted() => self.0.edited.notify_one(),
                () = context.stopped() => return Ok(()),
            }
        }
    }
}
