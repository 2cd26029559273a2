//! `plugins`: what the leader's own work costs, and how much of it gets done.
//!
//! ```text
//!   cost      1 plugin and 20: the same round trips a beat, counted by a proxy
//!   ttl       a million expired rows on PostgreSQL go while twenty nodes beat there;
//!             the peer is one DELETE of them all
//!   counters  four processes (adder) add as fast as they can while the leader consolidates;
//!             the peer is one row, or one key, that all of them change
//! ```

mod adder;
mod counters;
mod ttl;

use crate::beats;
use crate::cli::Plugins;
use crate::error::BenchError;
use crate::fixture::StoreKind;
use crate::report::Report;
use crate::sandbox::Sandbox;

pub use adder::add;

/// How many nodes beat where plugins are counted.
const NODES: u32 = 10;

/// How long they are counted.
const SECONDS: u32 = 25;

/// Measures cost, ttl and counters, one after the other.
pub async fn run(sandbox: &Sandbox, options: &Plugins, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("plugins", bars);
    let stores = [StoreKind::Postgres, StoreKind::Redis];
    if !options.skip_cost {
        for kind in stores {
            beats::compare(sandbox, kind, NODES, SECONDS, &mut report).await?;
        }
    }
    ttl::run(sandbox, options.rows, bars, &mut report).await?;
    for kind in stores {
        counters::run(sandbox, kind, options.additions, bars, &mut report).await?;
    }
    Ok(report)
}

/// The rate per second.
fn a_second(count: u64, ms: f64) -> f64 {
    count as f64 / ms * 1e3
}

/// A figure that must be at least so large, if bars are judged.
fn at_least(report: &mut Report, bars: bool, name: &str, found: f64, least: f64) {
    let shown = format!("{found:.0}");
    match bars {
        true => report.must(name, found >= least, shown, format!("{least:.0} at least")),
        false => report.note(format!("{name}: {shown}")),
    }
}
