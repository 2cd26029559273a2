//! `beats`: what a beat costs the store, counted outside of baton.
//!
//! ```text
//!   fleet: N nodes, each with a store handle of its own ── timed ──► proxy ──► server
//!                                                            │         │          │
//!                                  how long each beat took ──┘         │          │
//!                                  how often a client spoke ───────────┘          │
//!                          what the server counted (server_counter), its CPU ────┘
//!   window: what came between two readings, divided by the beats that came through
//! ```
//!
//! All nodes are in one process: a handle has its connections and its thread to itself, so that the
//! store cannot tell them from processes, and plugins can be given to them. Beats are counted by
//! the nodes' own metrics. The leader's reading of the members is in the figures.

mod fleet;
mod server_counter;
mod timed;
mod window;

use std::time::Duration;

use baton::Namespace;
use baton_store::clock::{Clock, SystemClock};

use crate::cli::Beats;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::report::{Report, TextTable};
use crate::sandbox::Sandbox;
pub use fleet::Fleet;
pub use server_counter::ServerCounter;
pub use timed::BeatTimes;
use window::{Figures, Reading};

/// How many nodes have the plugins whose number must not matter.
const NODES_WITH_PLUGINS: u32 = 50;

/// This many plugins must cost as much as one.
const PLUGINS: u32 = 20;

/// The largest difference that counts as the same, as a fraction.
const PLUGINS_MAY_COST: f64 = 0.05;

const HEAD: [&str; 8] =
    ["NODES", "PLUGINS", "BEATS", "TRIPS/BEAT", "COUNTED/BEAT", "P50 ms", "P99 ms", "SERVER CPU %"];

/// Runs the bench on every store, one after the other.
pub async fn run(sandbox: &Sandbox, options: &Beats, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("beats", bars);
    fleet::allow_many_files();
    for kind in chosen(&options.store) {
        compare(sandbox, kind, options.nodes, options.seconds, &mut report).await?;
    }
    report.note(
        "TRIPS: how often a client spoke, by the proxy. COUNTED: by the server itself".into(),
    );
    Ok(report)
}

/// Fleets of up to this many nodes on one store, and what twenty plugins cost instead of one.
pub async fn compare(
    sandbox: &Sandbox,
    kind: StoreKind,
    most: u32,
    seconds: u32,
    report: &mut Report,
) -> Result<(), BenchError> {
    let fixture = Fixture::counted(kind).await?;
    let mut measured = Vec::new();
    for (nodes, plugins) in fleets(most) {
        eprintln!("{kind}: {nodes} nodes with {plugins} plugins");
        match measure(sandbox, &fixture, nodes, plugins, seconds).await {
            Ok(figures) => measured.push((nodes, plugins, figures)),
            // The other fleets and stores have something to say all the same.
            Err(BenchError::NotSettled { patience, .. }) => {
                let found = format!("not in {} s", patience.as_secs());
                report.must(&format!("{kind}, {nodes} nodes: settled"), false, found, "yes");
            }
            Err(problem) => return Err(problem),
        }
    }
    add_to_report(kind, &measured, report);
    Ok(())
}

/// Numbers of nodes and plugins, up to this many nodes.
fn fleets(most: u32) -> Vec<(u32, u32)> {
    let mut fleets: Vec<(u32, u32)> = [10, 50, most].map(|nodes| (nodes.min(most), 1)).to_vec();
    fleets.dedup();
    fleets.push((NODES_WITH_PLUGINS.min(most), PLUGINS));
    fleets
}

async fn measure(
    sandbox: &Sandbox,
    fixture: &Fixture,
    nodes: u32,
    plugins: u32,
    seconds: u32,
) -> Result<Figures, BenchError> {
    let name = format!("beats-{nodes}-{plugins}");
    let folder = sandbox.room(&format!("{}-{name}", fixture.kind()))?;
    let namespace = Namespace::new(&name).expect("a plain name");
    let mut counter = ServerCounter::at(fixture).await?;
    let idle = |node, _| fleet::with_idle_plugins(node, plugins);
    let fleet = Fleet::start(&fixture.url(&folder), &namespace, nodes, idle).await?;
    if let Err(problem) = fleet.settle().await {
        // All at once: dropped, they would leave one after the other.
        fleet.leave().await;
        return Err(problem);
    }
    fleet.forget_times();
    // Where followers write at every second beat, twice as many even that out.
    let seconds = if fixture.kind() == StoreKind::S3 { 2 * seconds } else { seconds };
    let before = Reading::take(fixture, &fleet, &mut counter).await?;
    SystemClock.sleep(Duration::from_secs(seconds.into())).await;
    let after = Reading::take(fixture, &fleet, &mut counter).await?;
    let figures = Figures::between(&before, &after, &fleet.times_ms());
    fleet.leave().await;
    Ok(figures)
}

/// The most round trips a beat may take, the leader's other requests included.
fn trips_max(store: StoreKind) -> f64 {
    match store {
        StoreKind::Etcd | StoreKind::S3 => 2.0,
        _ => 1.1,
    }
}

fn add_to_report(store: StoreKind, measured: &[(u32, u32, Figures)], report: &mut Report) {
    let mut table = TextTable::new(store.name(), &HEAD);
    for (nodes, plugins, figures) in measured {
        let cells = [nodes.to_string(), plugins.to_string()];
        table.row(cells.into_iter().chain(figures.cells()));
        let fleet = format!("{store}, {nodes} nodes, plugins {plugins}");
        if figures.beats == 0 {
            report.must(&format!("{fleet}: beats"), false, "0", "some");
        }
        let Some(trips) = figures.trips_a_beat() else { continue };
        let (most, name) = (trips_max(store), format!("{fleet}: trips a beat"));
        report.must(&name, figures.is_within(most), format!("{trips:.3}"), format!("{most}"));
    }
    let of = |wanted: u32| {
        let same = |(nodes, plugins, _): &&(u32, u32, Figures)| {
            *plugins == wanted && *nodes == measured.last().map_or(0, |last| last.0)
        };
        measured.iter().find(same).and_then(|(_, _, figures)| figures.trips_a_beat())
    };
    if let Some((one, many)) = of(1).zip(of(PLUGINS)) {
        let more = (many - one) / one;
        let found = format!("{:+.1} %", more * 1e2);
        let name = format!("{store}: trips for {PLUGINS} plugins instead of 1");
        report.must(&name, more.abs() <= PLUGINS_MAY_COST, found, "5 % at most");
    }
    report.table(table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_are_compared_on_as_many_nodes() {
        assert_eq!(fleets(200), [(10, 1), (50, 1), (200, 1), (50, 20)]);
        assert_eq!(fleets(50), [(10, 1), (50, 1), (50, 20)]);
        assert_eq!(fleets(4), [(4, 1), (4, 20)]);
    }
}
