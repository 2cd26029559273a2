//! `allocation`: how long it takes to say who should own each partition, and how many of them move.
//!
//! ```text
//!   fleet: lists, nodes ──► from scratch ──┬──► one node leaves ──┐ partitions that move, and
//!                                          └──► one node joins ───┤ the fewest that must
//!   contenders: baton, and how others do it                       ▼
//!     rendezvous, ring, quota: here, in Rust            show: tables, bars, checks
//!     sticky: Kafka's sticky assignor, in Python
//! ```

mod baton;
mod contender;
mod fleet;
mod quota;
mod rendezvous;
mod ring;
mod show;
mod sticky;

use crate::cli::Allocation;
use crate::error::BenchError;
use crate::report::Report;
use contender::{Contender, Measured};
use fleet::Fleet;

/// Partitions and nodes; the partitions are of 30 lists.
const SIZES: [(u32, u32); 4] = [(1_000, 10), (10_000, 50), (100_000, 100), (1_000_000, 1_000)];

const LISTS: u32 = 30;

/// How many lists of one partition are spread, over how many nodes.
const SMALL_LISTS: (u32, u32) = (1_000, 100);

/// All contenders on one fleet.
pub struct Contest {
    fleet: Fleet,
    /// The first is baton.
    measured: Vec<Measured>,
}

/// Runs the bench.
pub async fn run(options: &Allocation, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("allocation", bars);
    let mut contests = Vec::new();
    let large = SIZES.map(|(partitions, nodes)| Fleet::new(partitions, LISTS, nodes));
    let small = Fleet::new(SMALL_LISTS.0, SMALL_LISTS.0, SMALL_LISTS.1);
    for fleet in large.into_iter().chain([small]) {
        eprintln!("allocation: {fleet}");
        contests.push(contest(fleet, options).await?);
    }
    show::add_to_report(&contests, bars, &mut report);
    Ok(report)
}

async fn contest(fleet: Fleet, options: &Allocation) -> Result<Contest, BenchError> {
    let others: [&dyn Contender; 3] = [&quota::Quota, &ring::Ring, &rendezvous::Rendezvous];
    let mut measured = vec![baton::measure(&fleet)];
    measured.extend(others.map(|contender| contender::measure(contender, &fleet)));
    if !options.skip_pypi && fleet.partitions() <= sticky::PARTITIONS_MAX {
        measured.push(sticky::measure(&fleet).await?);
    }
    Ok(Contest { fleet, measured })
}
