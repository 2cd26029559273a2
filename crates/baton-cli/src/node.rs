//! A node as it was configured, with its store, and with traces and metrics for a collector if one
//! is named and the program was built for it.

use std::sync::Arc;

use baton::{LateNotice, Node, NodeBuilder};
use baton_store::{FindingLevel, Store};

use crate::config::{Config, StoreUrl};
use crate::error::CommandError;
use crate::open_store;
use crate::output::log::{self, Level};

/// The store that a node of this configuration takes part in. A node that leads alone has none but
/// its own memory. Says what would weaken a promise; `baton doctor` says more, and what is well,
/// too.
pub async fn store(config: &Config) -> Result<Arc<dyn Store>, CommandError> {
    if !config.settings.enabled {
        return open_store::open(&StoreUrl::new("memory://")).await;
    }
    let store = open_store::open(&config.store).await?;
    // A store that cannot be looked at now is opened all the same: the node will say so.
    let findings = store.examine().await.unwrap_or_default();
    for finding in findings.iter().filter(|finding| finding.verdict > FindingLevel::Ok) {
        let remedy = finding.remedy.as_deref().unwrap_or("see baton doctor");
        log::warn(&format!("warning: {}: {}; {remedy}", finding.check, finding.detail));
    }
    Ok(store)
}

/// Names the node in the lines of the log from now on and, if the log has this level, says whether
/// a crash of it would be noticed late and where its metrics are.
pub fn introduce(node: &Node, notice: Option<&LateNotice>, least: Level) {
    log::set_node(node.namespace(), node.id());
    if let Some(notice) = notice.filter(|_| least <= Level::Warn) {
        log::warn(&format!("warning: {notice}"));
    }
    if let Some(address) = node.metrics_endpoint().filter(|_| least <= Level::Info) {
        log::info(&format!("metrics at http://{address}/metrics"));
    }
}

/// A node of this configuration, not yet started.
pub fn builder(config: &Config, store: Arc<dyn Store>) -> NodeBuilder {
    let builder = Node::builder(store)
        .namespace(config.namespace.clone())
        .settings(config.settings.clone())
        .version(env!("CARGO_PKG_VERSION"))
        .lifeline(config.lifeline.clone());
    let builder = match &config.id {
        Some(id) => builder.id(id.clone()),
        None => builder,
    };
    let builder = match config.metrics {
        Some(address) => builder.metrics(address).metrics_hosts(config.metrics_hosts.clone()),
        None => builder,
    };
    let labels = config.labels.iter();
    labels.fold(builder, |builder, (name, value)| builder.label(name, value))
}

/// What is sent to a collector. Dropped after the node, so that the end of the node is sent as
/// well.
pub struct Telemetry {
    #[cfg(feature = "otel")]
    sent: Option<baton::Telemetry>,
}

impl Telemetry {
    /// As it was configured.
    #[cfg(feature = "otel")]
    pub fn of(config: &Config) -> Result<Self, CommandError> {
        let telemetry = config.otlp.as_deref().map(|url| baton::Telemetry::otlp(url, "baton"));
        let sent =
            telemetry.transpose().map_err(|problem| CommandError::Telemetry(problem.to_string()));
        Ok(Self { sent: sent? })
    }

    /// Refused if a collector was named.
    #[cfg(not(feature = "otel"))]
    pub fn of(config: &Config) -> Result<Self, CommandError> {
        match &config.otlp {
            None => Ok(Self {}),
            Some(_) => Err(CommandError::Telemetry(
                "this program was built without OpenTelemetry; build it with --features otel"
                    .to_owned(),
            )),
        }
    }

    /// The node sends traces and metrics from its start on, if a collector was named.
    pub fn attach(&self, builder: NodeBuilder) -> NodeBuilder {
        #[cfg(feature = "otel")]
        if let Some(telemetry) = &self.sent {
            return builder.telemetry(telemetry.clone());
        }
        builder
    }
}

#[cfg(feature = "otel")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(telemetry) = &self.sent {
            telemetry.shutdown();
        }
    }
}
