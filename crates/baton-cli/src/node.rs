//! A node as it was configured.

use std::sync::Arc;

use baton::{LifelineConfig, Node, NodeBuilder};
use baton_store::Store;

use crate::config::{Config, StoreUrl};
use crate::error::CommandError;
use crate::place;

/// The store that a node of this configuration takes part in. A node that leads alone has none but
/// its own memory.
pub fn store(config: &Config) -> Result<Arc<dyn Store>, CommandError> {
    match config.settings.enabled {
        true => place::open(&config.store),
        false => place::open(&StoreUrl::new("memory://")),
    }
}

/// A node of this configuration, not yet started.
pub fn builder(config: &Config, store: Arc<dyn Store>) -> NodeBuilder {
    let lifeline = LifelineConfig {
        enabled: config.lifeline.enabled,
        bind: config.lifeline.bind,
        advertise: config.lifeline.advertise,
        connections_max: usize::try_from(config.lifeline.connections_max).unwrap_or(usize::MAX),
    };
    let builder = Node::builder(store)
        .namespace(config.namespace.clone())
        .settings(config.settings.clone())
        .version(env!("CARGO_PKG_VERSION"))
        .lifeline(lifeline);
    let builder = match &config.id {
        Some(id) => builder.id(id.clone()),
        None => builder,
    };
    let labels = config.labels.iter();
    labels.fold(builder, |builder, (name, value)| builder.label(name, value))
}
