//! The plugins that `baton serve` hosts: what a leader without work of its own still does.

use std::sync::Arc;
use std::time::Duration;

use baton::plugins::counters::CountersPlugin;
use baton::plugins::health::ClusterHealth;
use baton::plugins::ttl::Ttl;
use baton::{NodeBuilder, Sweep, sweep};

use crate::config::{Config, ConfigError, TtlTable};

/// How often baton's own old records are looked for.
const OWN_RECORDS_EVERY: Duration = Duration::from_secs(10 * 60);

/// Adds every built-in. None of them ever costs leadership.
pub fn add_serve_plugins(
    builder: NodeBuilder,
    config: &Config,
) -> Result<NodeBuilder, ConfigError> {
    if !config.settings.enabled {
        // A node that leads alone has no store to keep in order.
        return Ok(builder);
    }
    let builder = builder.plugin(ClusterHealth::default()).plugin(CountersPlugin::default());
    let builder = builder.plugin(own_records(config)?);
    let mut tables = config.ttl.iter().enumerate();
    tables.try_fold(builder, |builder, (at, table)| {
        let sweep = swept(table, config)?;
        Ok(builder.plugin(ttl(at + 1, table, sweep)?))
    })
}

/// The plugin that removes baton's own old records.
pub fn own_records(config: &Config) -> Result<Ttl, ConfigError> {
    let ttl = Ttl::new().named("own-records").every(OWN_RECORDS_EVERY);
    let ttl = ttl.own_records(config.own_records);
    let key = "own_records.forget_dead_after";
    let refuse = |invalid| ConfigError::refused(&config.source(key).place(key), &invalid);
    ttl.check().map_err(refuse)?;
    Ok(ttl)
}

/// What one `[[ttl]]` table sweeps.
pub fn swept(table: &TtlTable, config: &Config) -> Result<Arc<dyn Sweep>, ConfigError> {
    let store = table.store.as_ref().unwrap_or(&config.store).with_secrets();
    let sweep = sweep::open(store, table.target.clone(), table.strategy.clone());
    sweep.map_err(|unfit| ConfigError::refused(&table.place, &unfit))
}

/// The plugin of one `[[ttl]]` table, which sweeps this.
pub fn ttl(number: usize, table: &TtlTable, sweep: Arc<dyn Sweep>) -> Result<Ttl, ConfigError> {
    let mut ttl = Ttl::new().named(format!("ttl-{number}")).sweep(sweep);
    if let Some(every) = table.every {
        ttl = ttl.every(every);
    }
    if let Some(batch) = table.batch {
        ttl = ttl.batch(batch);
    }
    if let Some(pause) = table.pause {
        ttl = ttl.pause(pause);
    }
    ttl.check().map_err(|invalid| ConfigError::refused(&table.place, &invalid))?;
    Ok(ttl)
}
