//! A user's own settings under faults: a table, JSON, a picture.

use std::path::PathBuf;

use crate::figures::show_ms;
use crate::what_if::{CauseReport, Config, Report, RunOptions, SimulatedDays, plot, report};
use baton_core::settings::show_span;

use super::print::{name_of, print_json, print_line};
use super::{CommandError, input};

/// More nodes than this take too long; `cost` is for larger clusters.
const MOST_NODES: i64 = 1_000;

/// What can be written in the file, for the long help.
const FILE_HELP: &str = r#"The file is TOML. Everything in it is optional.

  profile = "fast"          set of defaults: default, fast, frugal, short-lease,
                            long-lease, first-come, slow-start
  lease_timeout = "5s"      any setting of baton, which overrides the profile;
  heartbeat_interval = "1s" also in [circuit_breaker] and [contention]

  [environment]
  store_clock = "store"     clock by which leases end: store (SQL, Redis),
                            store-lease (etcd), observer (S3)
  lifeline = true           whether nodes can connect to each other
  push = true               whether the store notifies the nodes of changes
  latency = "2ms"           usual round trip of a request
  restart = "10s"           time until a process that died or left is back
  crashes_per_node_and_month = 1.0
  deploys_per_day = 1.0     deploys restart the nodes one after another
  deploy_pace = "30s"       time between two restarts of a deploy
  pauses_per_node_and_week = 0.1
  pause_length = "1m 30s"   all lengths vary by 20 %
  cuts_per_node_and_month = 0.1
  cut_length = "2m"         a host without any network
  brief_outages_per_month = 4.0
  brief_outage_length = "2s"
  outages_per_month = 0.5
  outage_length = "2m"      the store does not answer

The values shown for [environment] are the defaults.

Failover time is the time from when the last leader could no longer act until
the next one starts to work. A paused process and one without network cannot
act; one that only cannot reach the store can, until its trust window closes."#;

#[derive(clap::Args)]
#[command(after_long_help = FILE_HELP)]
pub struct WhatIfArguments {
    /// TOML file with settings and an environment; --help shows all names.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Number of nodes.
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    nodes: i64,
    /// Number of days to simulate with faults as frequent as the environment says.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,
    /// Number of times each cause of failure is simulated.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write a picture of the leaders through one fault of each kind to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &WhatIfArguments) -> Result<(), CommandError> {
    let config = Config::read(&arguments.config).map_err(|problem| input(&problem))?;
    let options = options(arguments)?;
    if let Some(file) = &arguments.plot {
        let picture = plot::draw(&config, &options).map_err(|broken| broken_promise(&broken))?;
        std::fs::write(file, picture)
            .map_err(|problem| input(&format!("{}: {problem}", file.display())))?;
    }
    let report = report(&config, &options).map_err(|broken| broken_promise(&broken))?;
    if arguments.json {
        print_json(&report);
    } else {
        print_report(&report);
    }
    Ok(())
}

fn options(arguments: &WhatIfArguments) -> Result<RunOptions, CommandError> {
    let WhatIfArguments { nodes, days, runs, seed, .. } = *arguments;
    let most = if arguments.plot.is_some() { plot::NODES_MAX as i64 } else { MOST_NODES };
    let Some(nodes) = usize::try_from(nodes).ok().filter(|_| (1..=most).contains(&nodes)) else {
        let with = if arguments.plot.is_some() { " with --plot" } else { "" };
        return Err(input(&format!("nodes ({nodes}) must be between 1 and {most}{with}")));
    };
    Ok(RunOptions { nodes, days, runs, seed })
}

fn broken_promise(broken: &crate::invariants::Violation) -> CommandError {
    print_line!("these settings break {broken}");
    print_line!("this is a bug in baton: please report it with the file");
    CommandError::Broken
}

fn print_report(report: &Report) {
    print_head(report);
    print_line!("\n{:43}{:>27}", "", "time without a leader");
    print_line!("cause                 a month  tried   felt      p50      p99      max  s a day");
    for row in &report.causes {
        print_cause(row);
    }
    print_line!("{:<70}{:>9}", "leaderless seconds a day", figure(report.leaderless_seconds_a_day));
    print_line!("{:<68}{:>9.5} %", "availability of a leader", report.availability_percent);
    let SimulatedDays { days, leader_changes, flap_warnings, .. } = &report.lived;
    let changes = figure(report.leader_changes_a_day);
    print_line!("\nleader changes: {changes} a day");
    print_line!(
        "days lived: {days}, leader changes {leader_changes}, flap warnings {flap_warnings}"
    );
    print_operations(report);
    if !report.advice.is_empty() {
        print_line!();
    }
    for line in &report.advice {
        print_line!("! {line}");
    }
}

fn print_head(report: &Report) {
    let environment = &report.config.environment;
    print_line!("{}", report.config.heading(report.nodes));
    print_line!(
        "leases end by the {} clock, {}, latency {}",
        name_of(&environment.store_clock),
        environment.reach(),
        show_span(environment.latency),
    );
}

fn print_cause(row: &CauseReport) {
    let CauseReport { cause, a_month, tried, felt, failover, .. } = row;
    let span = |ms: f64| if ms > 0.0 { show_ms(ms) } else { "none".to_owned() };
    print_line!(
        "{:<21}{:>8} {:>6} {:>6}{:>9}{:>9}{:>9}{:>9}",
        cause.label(),
        figure(*a_month),
        tried,
        felt,
        span(failover.p50_ms),
        span(failover.p99_ms),
        span(failover.max_ms),
        figure(row.leaderless_seconds_a_day),
    );
}

fn print_operations(report: &Report) {
    let operations = &report.store_operations_an_hour;
    print_line!("\nstore operations an hour{:>21} {:>10}", "all nodes", "each node");
    let each = |count: f64| figure(count / report.nodes as f64);
    for (kind, count) in &operations.by_kind {
        print_line!("  {kind:<22}{:>21} {:>10}", figure(*count), each(*count));
    }
    print_line!("  {:<22}{:>21} {:>10}", "total", figure(operations.total), each(operations.total));
}

/// A number with as many digits as matter.
fn figure(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        n if n < 0.095 => format!("{n:.3}"),
        n if n < 9.95 => format!("{n:.2}"),
        n if n < 99.5 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}
