//! `rebalance`: a node is killed, drained, leaves, joins, then the leader is killed. How long is a
//! partition without an owner, and what does it cost the store?
//!
//! ```text
//!   nodes without task lists, at rest ── requests a second ─┐
//!   the same nodes with partitions, at rest ────────────────┴──► 0 more
//!   killed ► drained ► left ► joined ► leader killed
//!      └ measure: owned again after, gap of each partition, moves, documents, views, requests
//! ```

mod measure;
mod show;

use baton_cli::cluster::ClusterError;

use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::report::Report;
use crate::sandbox::Sandbox;

use super::options::Rebalance;
use measure::Measured;

/// Runs the bench on every store, one after the other.
pub async fn run(sandbox: &Sandbox, options: &Rebalance, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("rebalance", bars);
    let mut all: Vec<(StoreKind, Measured)> = Vec::new();
    for kind in chosen(&options.store) {
        let fixture = Fixture::new(kind).await?;
        match measure::run(sandbox, &fixture, options).await {
            Ok(measured) => all.push((kind, measured)),
            // The other stores have something to say all the same.
            Err(BenchError::Cluster(
                problem @ (ClusterError::Unbalanced { .. } | ClusterError::Ended(_)),
            )) => {
                report.must(&format!("{kind}: balanced"), false, problem.to_string(), "in time");
            }
            Err(problem) => return Err(problem),
        }
    }
    show::report_all(&all, options, bars, &mut report);
    Ok(report)
}
