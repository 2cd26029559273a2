//! Processes that wait: `baton run` with its guard, fifty times on one file. One of them leads and
//! has a job that does nothing; the others stand by.

use std::time::Duration;

use baton_cli::cluster::Body;
use baton_store::clock::{Clock, SystemClock};

use crate::cli::Idle;
use crate::error::BenchError;
use crate::fixture::Fixture;
use crate::processes::{Process, in_folder};
use crate::report::{Bar, Report};
use crate::sandbox::{Sandbox, Stage};
use crate::settle;

/// The job's tick, which is not what is measured.
const TICK_EVERY: Duration = Duration::from_secs(3_600);

/// What all of them together may have of one core, in percent.
const CORE_PERCENT: f64 = 5.0;

/// Measures from when all have settled.
pub async fn measure(
    sandbox: &Sandbox,
    options: &Idle,
    report: &mut Report,
) -> Result<(), BenchError> {
    let nodes = usize::try_from(options.nodes).unwrap_or(usize::MAX);
    eprintln!("idle: {nodes} nodes are to settle, then {} s", options.seconds);
    let (fixture, body) = (Fixture::files(), Body::run(&[]));
    let mut stage = sandbox.cluster(&fixture, "idle", nodes, TICK_EVERY, body).await?;
    stage.settled().await?;
    let before = Reading::take(sandbox, &stage).await?;
    SystemClock.sleep(Duration::from_secs(options.seconds.into())).await;
    let after = Reading::take(sandbox, &stage).await?;
    stage.cluster.stop().await?;
    let elapsed = after.at.since(before.at).as_secs_f64();
    let cpu = cpu(&after.processes).saturating_sub(cpu(&before.processes)).as_secs_f64();
    let beats = after.beats.saturating_sub(before.beats) as f64;
    let name = format!("CPU, {nodes} idle nodes");
    report.measured(&name, "%", &[cpu / elapsed * 100.0], &[Bar::max(CORE_PERCENT)]);
    report.measured("beats a second", "/s", &[beats / elapsed], &[]);
    report.measured("CPU of one beat", "us", &[cpu * 1e6 / beats.max(1.0)], &[]);
    let (were, are) = (before.processes.len(), after.processes.len());
    report.must("processes, as many as before", were == are, are.to_string(), were.to_string());
    Ok(())
}

/// What has been used up to a moment.
struct Reading {
    at: baton::clock::Moment,
    processes: Vec<Process>,
    beats: u64,
}

impl Reading {
    async fn take(sandbox: &Sandbox, stage: &Stage) -> Result<Self, BenchError> {
        let beats = settle::beats(&stage.cluster).await?.values().map(|(_, beat)| *beat).sum();
        let processes = in_folder(sandbox.folder());
        let no_list = |problem| BenchError::File { path: "/proc".into(), problem };
        let processes = processes.map_err(no_list)?;
        Ok(Self { at: SystemClock.now(), processes, beats })
    }
}

fn cpu(processes: &[Process]) -> Duration {
    processes.iter().map(|process| process.cpu).sum()
}
