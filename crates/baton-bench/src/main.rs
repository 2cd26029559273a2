//! Measures baton with real processes, and judges what it measured.
//!
//! ```text
//!   cli ──► failover/   kill, resign, terminate, pause the coordinator, again and again
//!      └──► storm/      everything at once, at random, on fifty processes
//!      └──► micro/      single calls, single requests; idle nodes
//!                │ site: a folder, clusters of `baton run` with `baton tick` as their job
//!                ▼
//!             report/ ──► a table on stdout, JSON, the exit code
//! ```
//!
//! Times are the jobs' own: what counts is when the next job wrote its first line, by the clock
//! that every process of the machine reads alike.

mod cli;
mod error;
mod failover;
mod judge;
mod micro;
mod processes;
mod progress;
mod report;
mod site;
mod spread;
mod storm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use baton_cli::output::say;
use clap::Parser;

use cli::{Bench, Cli, Common};
use error::BenchError;
use report::Report;
use site::Site;

const FAILED: u8 = 1;
const BROKEN: u8 = 3;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match perform(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(problem) => {
            eprintln!("baton-bench: {problem}");
            ExitCode::from(BROKEN)
        }
    }
}

/// Runs the bench and tells what came of it. Did it pass?
fn perform(cli: &Cli) -> Result<bool, BenchError> {
    let this = std::env::current_exe();
    let this =
        this.map_err(|problem| BenchError::File { path: "/proc/self/exe".into(), problem })?;
    let beside = this.parent().unwrap_or(Path::new("."));
    let baton = cli.common.baton.clone().unwrap_or_else(|| beside.join("baton"));
    let within = cli.common.within.as_deref().unwrap_or(beside);
    let site = Arc::new(Site::new(&baton, within)?);
    let measured = measure(cli, &site);
    let passed = measured.as_ref().is_ok_and(Report::passes);
    if let Some(site) = Arc::into_inner(site).filter(|_| cli.common.keep || !passed) {
        eprintln!("databases and logs are in {}", site.keep().display());
    }
    tell(&measured?, &cli.common)?;
    Ok(passed)
}

fn measure(cli: &Cli, site: &Arc<Site>) -> Result<Report, BenchError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let no_runtime = |problem| BenchError::File { path: PathBuf::from("a runtime"), problem };
    let runtime = runtime.worker_threads(2).enable_all().build().map_err(no_runtime)?;
    let bars = !cli.common.no_bars;
    runtime.block_on(async {
        match &cli.bench {
            Bench::Failover(options) => failover::run(site, options, bars).await,
            Bench::Storm(options) => storm::run(site, options, bars).await,
            Bench::Micro => micro::run(site, bars).await,
            Bench::Idle(options) => micro::idle(site, options, bars).await,
        }
    })
}

fn tell(report: &Report, common: &Common) -> Result<(), BenchError> {
    let Some(file) = &common.json else {
        say::text(&report.text());
        return Ok(());
    };
    let json = serde_json::to_string_pretty(report).expect("a report is plain data");
    if file.as_os_str() == "-" {
        say::line(&json);
        return Ok(());
    }
    say::text(&report.text());
    let written = std::fs::write(file, format!("{json}\n"));
    written.map_err(|problem| BenchError::File { path: file.clone(), problem })
}
