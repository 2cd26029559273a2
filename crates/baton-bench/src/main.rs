//! Measures baton with real processes, and judges what it measured.
//!
//! ```text
//!   cli ──► failover/   kill, resign, terminate, pause the leader, again and again
//!      │      └ peers/   the same, done to other people's locks
//!      └──► beats/      what a beat costs the store, counted outside of baton
//!      └──► plugins/    what the leader's own work costs and yields
//!      └──► cron/       schedules of every second: missed, doubled, late?
//!      └──► lost_updates/  does the fence keep a shared number right?
//!      └──► chaos/      the same to connections and servers too, on every store
//!      └──► outage/     the store is gone for two minutes
//!      └──► allocation/  who should own each partition, beside how others do it
//!      └──► micro/      single calls, single requests; idle nodes
//!                │ sandbox: a folder, clusters of `baton run` with `baton tick` as their job
//!                ▼
//!             report/ ──► a table on stdout, JSON, the exit code
//! ```
//!
//! Times are the jobs' own: what counts is when the next job wrote its first line, by the clock
//! that every process of the machine reads alike.

mod allocation;
mod beats;
mod chaos;
mod cli;
mod cron;
mod error;
mod failover;
mod fixture;
mod log_findings;
mod log_reader;
mod lost_updates;
mod micro;
mod outage;
mod peers;
mod percentiles;
mod plugins;
mod processes;
mod progress;
mod report;
mod sandbox;
mod settle;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use baton_cli::output::stdout;
use clap::Parser;

use cli::{Bench, Cli, Common, Subprocess, Task};
use error::BenchError;
use processes::this_program;
use report::Report;
use sandbox::Sandbox;

const FAILED: u8 = 1;
const BROKEN: u8 = 3;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.task {
        Task::Bench(bench) => perform(bench, &cli.common),
        Task::Subprocess(subprocess) => run_subprocess(subprocess).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(problem) => {
            eprintln!("baton-bench: {problem}");
            ExitCode::from(BROKEN)
        }
    }
}

/// Runs the bench and writes its report. Did it pass?
fn perform(bench: &Bench, common: &Common) -> Result<bool, BenchError> {
    let this = this_program()?;
    let beside = this.parent().unwrap_or(Path::new("."));
    let baton = common.baton.clone().unwrap_or_else(|| beside.join("baton"));
    let within = common.within.as_deref().unwrap_or(beside);
    let sandbox = Arc::new(Sandbox::new(&baton, within)?);
    let measured = runtime()?.block_on(async {
        tokio::select! {
            measured = measure(bench, !common.no_bars, &sandbox) => measured,
            stopped = processes::stop_requested() => stopped.and(Err(BenchError::Stopped)),
        }
    });
    let passed = measured.as_ref().is_ok_and(Report::passes);
    if let Some(sandbox) = Arc::into_inner(sandbox).filter(|_| common.keep || !passed) {
        eprintln!("databases and logs are in {}", sandbox.keep().display());
    }
    write_report(&measured?, common)?;
    Ok(passed)
}

/// Does the work of a process that a bench started.
fn run_subprocess(subprocess: &Subprocess) -> Result<(), BenchError> {
    runtime()?.block_on(async {
        match subprocess {
            Subprocess::Hold(options) => peers::hold(options).await,
            Subprocess::Member(options) => failover::take_part(options).await,
            Subprocess::Worker(options) => lost_updates::work(options).await,
            Subprocess::Adder(options) => plugins::add(options).await,
        }
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, BenchError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let no_runtime = |problem| BenchError::File { path: PathBuf::from("a runtime"), problem };
    runtime.worker_threads(2).enable_all().build().map_err(no_runtime)
}

async fn measure(bench: &Bench, bars: bool, sandbox: &Arc<Sandbox>) -> Result<Report, BenchError> {
    match bench {
        Bench::Failover(options) => failover::run(sandbox, options, bars).await,
        Bench::Beats(options) => beats::run(sandbox, options, bars).await,
        Bench::Plugins(options) => plugins::run(sandbox, options, bars).await,
        Bench::Cron(options) => cron::run(sandbox, options, bars).await,
        Bench::LostUpdates(options) => lost_updates::run(sandbox, options, bars).await,
        Bench::Chaos(options) => chaos::run(sandbox, options, bars).await,
        Bench::Outage(options) => outage::run(sandbox, options, bars).await,
        Bench::Micro => micro::run(sandbox, bars).await,
        Bench::Idle(options) => micro::idle(sandbox, options, bars).await,
        Bench::Allocation(options) => allocation::run(options, bars).await,
    }
}

fn write_report(report: &Report, common: &Common) -> Result<(), BenchError> {
    let Some(file) = &common.json else {
        stdout::text(&report.text());
        return Ok(());
    };
    let json = serde_json::to_string_pretty(report).expect("a report is plain data");
    if file.as_os_str() == "-" {
        stdout::line(&json);
        return Ok(());
    }
    stdout::text(&report.text());
    let written = std::fs::write(file, format!("{json}\n"));
    written.map_err(|problem| BenchError::File { path: file.clone(), problem })
}
