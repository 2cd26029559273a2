//! `cron`: hundreds of schedules of every second, on the leader of three nodes.
//!
//! ```text
//!   cluster: three nodes, each with a store handle of its own ── timed ──► server
//!      │        beats of the leader without schedules, with them, and without again
//!      └ schedules ──► fires: (schedule, slot, attempt, start), kept in memory
//!                        every slot of the window has one: else it was missed, or doubled
//!   locks: what it takes without baton: three replicas, and an advisory lock for each fire
//! ```
//!
//! A second of the window counts from half a second before its first slot to half a second before
//! the first slot after it, so that the requests of a slot are counted with it. How late a run is
//! counts from the time of its slot to the first line of its closure, by the wall clock.

mod cluster;
mod fires;
mod leader_calls;
mod locks;
mod measure;
mod show;

use std::time::Duration;

use crate::cli::Cron;
use crate::error::BenchError;
use crate::fixture::{Fixture, StoreKind, chosen};
use crate::report::Report;
use crate::sandbox::Sandbox;
use measure::{Load, Measured};

/// Where a store is to carry less than all schedules, these numbers are tried.
const STEPS: [u32; 4] = [10, 50, 100, 200];

/// Each of these numbers has this part of the time: a quarter.
const STEP_PART: u32 = 4;

/// 99 of 100 runs start this many milliseconds after their slot at the latest.
const LAG_P99_MS: f64 = 250.0;

/// Runs the bench on every store, one after the other.
pub async fn run(sandbox: &Sandbox, options: &Cron, bars: bool) -> Result<Report, BenchError> {
    let mut report = Report::new("cron", bars);
    let mut all = Vec::new();
    for kind in chosen(&options.store) {
        let fixture = Fixture::new(kind).await?;
        all.extend(measure_store(sandbox, &fixture, options).await?);
        if kind == StoreKind::Postgres && !options.skip_peer {
            eprintln!("{kind}: an advisory lock for each fire, {} s", options.seconds);
            let fires = locks::run(&fixture, options).await?;
            all.push(Measured::of_peer(fires, options.schedules));
        }
    }
    show::add_to_report(&all, bars, options, &mut report);
    Ok(report)
}

/// All schedules on stores whose server runs the rules; on the others, more and more of them as
/// long as the store carries them.
async fn measure_store(
    sandbox: &Sandbox,
    fixture: &Fixture,
    options: &Cron,
) -> Result<Vec<Measured>, BenchError> {
    let full = Load {
        schedules: options.schedules,
        lasts: Duration::from_secs(options.seconds.into()),
        one_handle: options.one_handle,
    };
    if !climbs(fixture.kind()) {
        return Ok(vec![measure::run(sandbox, fixture, full).await?]);
    }
    let lasts = full.lasts / STEP_PART;
    let steps = STEPS.into_iter().filter(|step| *step < full.schedules);
    let mut tried = Vec::new();
    for schedules in steps.chain([full.schedules]) {
        let measured = measure::run(sandbox, fixture, Load { schedules, lasts, ..full }).await?;
        let carries = measured.fires.is_carried();
        tried.push(measured);
        if !carries {
            break;
        }
    }
    Ok(tried)
}

/// Is the largest number of schedules looked for that the store carries?
fn climbs(kind: StoreKind) -> bool {
    matches!(kind, StoreKind::Etcd | StoreKind::S3)
}
