//! `outage`: the store is gone for a while, and comes back.
//!
//! ```text
//!   observed_nodes: N nodes, each with a store handle ──► store_outage: killed, or moved away
//!     │ every event, stamped                                  │ … back
//!     │ which nodes lead, counted all the time                ▼
//!     └──────────► record: terms, breakers, recovery ──► one row a store
//! ```
//!
//! The nodes are in one process: their event streams tell everything, and no node can be started
//! again unnoticed. They have default settings. All stores run side by side, since most of it is
//! waiting.

mod observed_nodes;
mod print;
mod record;
mod store_outage;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton::{Namespace, Settings};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use crate::cli::Outage;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::report::Report;
use crate::sandbox::Sandbox;
use observed_nodes::ObservedNodes;
use record::Record;
use store_outage::StoreOutage;

/// Runs an outage on every store, side by side.
pub async fn run(
    sandbox: &Arc<Sandbox>,
    options: &Outage,
    bars: bool,
) -> Result<Report, BenchError> {
    let mut report = Report::new("outage", bars);
    let mut at_work = JoinSet::new();
    for kind in chosen(&options.store) {
        let (sandbox, options) = (Arc::clone(sandbox), options.clone());
        at_work.spawn(async move {
            Ok::<_, BenchError>((kind, run_store(&sandbox, kind, &options).await?))
        });
    }
    let mut records = BTreeMap::new();
    while let Some(done) = at_work.join_next().await {
        let (kind, record) = done??;
        records.insert(kind, record);
    }
    print::add_to_report(&records, options, &mut report);
    Ok(report)
}

/// Runs an outage on one store.
async fn run_store(
    sandbox: &Sandbox,
    kind: StoreKind,
    options: &Outage,
) -> Result<Record, BenchError> {
    let fixture = Fixture::new(kind).await?;
    let folder = sandbox.room(&format!("outage-{kind}"))?;
    let namespace = Namespace::new("outage").expect("a plain name");
    let url = fixture.url(&folder);
    let nodes = ObservedNodes::start(&url, &namespace, options.nodes).await?;
    nodes.settle().await?;
    eprintln!("{kind}: {} nodes have settled, the store goes", options.nodes);
    let lost_ms = SystemClock.wall_ms();
    let outage = StoreOutage::begin(&fixture, &folder).await?;
    SystemClock.sleep(Duration::from_secs(options.seconds.into())).await;
    outage.end().await?;
    let back_ms = SystemClock.wall_ms();
    eprintln!("{kind}: the store is back");
    let lease = Settings::default().lease_timeout;
    nodes.wait_for_recovery(back_ms, 3 * lease).await;
    let record = nodes.record(lost_ms, back_ms);
    nodes.leave().await;
    Ok(record)
}
