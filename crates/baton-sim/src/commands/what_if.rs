//! A user's own settings, tried out: a table, JSON, a picture.

use std::path::PathBuf;

use crate::figures::show_ms;
use crate::what_if::{CauseReport, Config, Effort, Lived, Report, plot, report};
use baton_core::settings::show_span;

use super::say::say;
use super::{CommandError, input};

/// More nodes than this take too long, strike by strike; `cost` is for larger clusters.
const MOST_NODES: i64 = 1_000;

/// What can be written in the file, for the long help.
const FILE_HELP: &str = r#"The file is TOML. Everything in it is optional.

  profile = "fast"          what the settings start from: default, fast, frugal,
                            short-lease, long-lease, first-come, slow-start
  lease_timeout = "5s"      any setting of baton by its name, laid over the
  heartbeat_interval = "1s" profile; also [circuit_breaker] and [contention]

  [environment]
  store_clock = "store"     whose clock ends leases: store (SQL, Redis),
                            store-lease (etcd, Consul), observer (S3)
  lifeline = true           nodes can connect to each other
  push = true               the store notifies
  latency = "2ms"           a usual request, there and back
  restart = "10s"           until a process that died or left is back
  crashes_per_node_and_month = 1.0
  deploys_per_day = 1.0     every node in turn,
  deploy_pace = "30s"       so long after one another
  pauses_per_node_and_week = 0.1
  pause_length = "1m 30s"   lengths vary by a fifth
  cuts_per_node_and_month = 0.1
  cut_length = "2m"         a host without any network
  brief_outages_per_month = 4.0
  brief_outage_length = "2s"
  outages_per_month = 0.5
  outage_length = "2m"      the store is away

The values shown for [environment] are the defaults.

Failover time runs from when the last leader could no longer act to when
the next one starts to work. A paused process and one without network cannot
act; one that merely lacks the store can, until its trust window closes."#;

/// What to try.
#[derive(clap::Args)]
#[command(after_long_help = FILE_HELP)]
pub struct WhatIfArguments {
    /// The settings and the environment, as TOML; --help shows all names.
    #[arg(long)]
    config: PathBuf,
    /// How many nodes.
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    nodes: i64,
    /// How many days to live through, faults as often as the environment has them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,
    /// How often to try each cause.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Where chance comes from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draw who leads through one fault of each kind, as an SVG file.
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Tries the settings out and reports.
pub fn run(arguments: &WhatIfArguments) -> Result<(), CommandError> {
    let config = Config::read(&arguments.config).map_err(|problem| input(&problem))?;
    let effort = effort(arguments)?;
    if let Some(file) = &arguments.plot {
        let picture = plot::draw(&config, &effort).map_err(|broken| broken_promise(&broken))?;
        std::fs::write(file, picture)
            .map_err(|problem| input(&format!("{}: {problem}", file.display())))?;
    }
    let report = report(&config, &effort).map_err(|broken| broken_promise(&broken))?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&report).expect("plain data has a JSON form");
        say!("{text}");
    } else {
        print_report(&report);
    }
    Ok(())
}

fn effort(arguments: &WhatIfArguments) -> Result<Effort, CommandError> {
    let WhatIfArguments { nodes, days, runs, seed, .. } = *arguments;
    let most = if arguments.plot.is_some() { plot::MOST_LANES as i64 } else { MOST_NODES };
    let Some(nodes) = usize::try_from(nodes).ok().filter(|_| (1..=most).contains(&nodes)) else {
        let with = if arguments.plot.is_some() { " with --plot" } else { "" };
        return Err(input(&format!("nodes ({nodes}) must be between 1 and {most}{with}")));
    };
    Ok(Effort { nodes, days, runs, seed })
}

fn broken_promise(broken: &crate::invariants::Violation) -> CommandError {
    let crate::invariants::Violation { promise, invariant, at, message } = broken;
    say!("these settings break {promise} ({invariant}) at {at:?}: {message}");
    say!("that is a bug of baton's: please report it with the file");
    CommandError::Broken
}

fn print_report(report: &Report) {
    print_head(report);
    say!("\n{:43}{:>27}", "", "time without a leader");
    say!(
        "{:<21}{:>8} {:>6} {:>6}{:>9}{:>9}{:>9}{:>9}",
        "cause",
        "a month",
        "tried",
        "felt",
        "p50",
        "p99",
        "max",
        "s a day"
    );
    for row in &report.causes {
        print_cause(row);
    }
    say!("{:<70}{:>9}", "leaderless seconds a day", figure(report.leaderless_seconds_a_day));
    say!("{:<68}{:>9.5} %", "availability of a leader", report.availability_percent);
    let Lived { days, leader_changes, flap_warnings, .. } = &report.lived;
    let changes = figure(report.leader_changes_a_day);
    say!("\nleader changes: {changes} a day");
    say!("days lived: {days}, leader changes {leader_changes}, flap warnings {flap_warnings}");
    print_operations(report);
    if !report.advice.is_empty() {
        say!();
    }
    for line in &report.advice {
        say!("! {line}");
    }
}

fn print_head(report: &Report) {
    let (settings, environment) = (&report.config.settings, &report.config.environment);
    let clock = serde_json::to_value(environment.store_clock).expect("a plain name");
    let with = |name: &str, there: bool| format!("{} {name}", if there { "with" } else { "no" });
    say!(
        "{} nodes, profile {}: lease {}, beat {} ± {}",
        report.nodes,
        report.config.profile,
        show_span(settings.lease_timeout),
        show_span(settings.heartbeat_interval),
        show_span(settings.heartbeat_jitter),
    );
    say!(
        "leases end by the {} clock, {}, {}, latency {}",
        clock.as_str().unwrap_or_default(),
        with("lifeline", environment.lifeline),
        with("push", environment.push),
        show_span(environment.latency),
    );
}

fn print_cause(row: &CauseReport) {
    let CauseReport { cause, a_month, tried, felt, failover, .. } = row;
    let span = |ms: f64| if ms > 0.0 { show_ms(ms) } else { "none".to_owned() };
    say!(
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
    say!("\nstore operations an hour{:>21} {:>10}", "all nodes", "each node");
    let each = |count: f64| figure(count / report.nodes as f64);
    for (kind, count) in &operations.by_kind {
        say!("  {kind:<22}{:>21} {:>10}", figure(*count), each(*count));
    }
    say!("  {:<22}{:>21} {:>10}", "total", figure(operations.total), each(operations.total));
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
