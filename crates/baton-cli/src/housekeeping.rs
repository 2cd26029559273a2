//! What a node of `baton serve` does when it leads: the built-in plugins, one line each.

use baton::NodeBuilder;
use baton::plugins::counters::CountersPlugin;
use baton::plugins::health::ClusterHealth;

use crate::config::Config;

/// Adds the built-ins. None of them costs leadership: each is started again for as long as it takes.
pub fn housekeeping(builder: NodeBuilder, config: &Config) -> NodeBuilder {
    if !config.settings.enabled {
        // A node that leads alone has no store to keep in order.
        return builder;
    }
    builder.plugin(CountersPlugin::default()).plugin(ClusterHealth::default())
}
