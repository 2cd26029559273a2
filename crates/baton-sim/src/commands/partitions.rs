//! The world of partitions: many seeds, or one with its plan and its trace.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

use crate::figures::{show_count, show_long, show_ms};
use crate::invariants::Violation;
use crate::partitions::campaign::{PartitionSummary, run_seeds};
use crate::partitions::{Fault, Plan, run_plan};
use crate::stopwatch::Stopwatch;
use crate::trace::Trace;

use super::campaign::{SEEDS_FOR_COVERAGE, print_counts};
use super::print::{print_json, print_line, print_text};
use super::{CommandError, at_least_one, cores};

/// What can be asked of the world of partitions.
#[derive(Args)]
pub struct PartitionArguments {
    /// Number of seeds to run.
    #[arg(long, default_value_t = 200, value_parser = at_least_one())]
    seeds: u64,
    /// First seed to run.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Run only this seed, and print its plan.
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// With --seed: print every event of the run.
    #[arg(long, requires = "seed", conflicts_with = "json")]
    trace: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    seeds: u64,
    seconds: f64,
    simulated_seconds: f64,
    events: u64,
    terms: u64,
    starts: u64,
    batches: u64,
    faults: BTreeMap<&'static str, u64>,
    never_happened: Vec<&'static str>,
    violations: &'a BTreeMap<u64, Violation>,
}

/// Runs the command.
pub fn run(arguments: &PartitionArguments) -> Result<(), CommandError> {
    match arguments.seed {
        Some(seed) => run_seed(seed, arguments.trace, arguments.json),
        None => run_campaign(arguments),
    }
}

fn run_seed(seed: u64, trace: bool, json: bool) -> Result<(), CommandError> {
    let plan = Plan::draw(seed);
    let shown = plan.to_string();
    let outcome = run_plan(plan, if trace { Trace::on() } else { Trace::Off });
    print_text(&outcome.trace);
    if json {
        print_json(&outcome.violation);
    } else {
        print_line!("plan of seed {seed}\n\n{shown}");
        match &outcome.violation {
            None => print_line!("all promises kept through {} events", outcome.stats.events),
            Some(broken) => print_line!("breaks {broken}"),
        }
    }
    if outcome.violation.is_some() { Err(CommandError::Broken) } else { Ok(()) }
}

fn run_campaign(arguments: &PartitionArguments) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    let enough = |summary: &PartitionSummary| summary.violations.len() >= 20;
    let summary = run_seeds(arguments.first, arguments.seeds, cores(), &enough);
    let missing = match summary.seeds {
        seeds if seeds < SEEDS_FOR_COVERAGE => Vec::new(),
        _ => summary.missing(),
    };
    let report = Report {
        seeds: summary.seeds,
        seconds: watch.elapsed().as_secs_f64(),
        simulated_seconds: summary.stats.simulated.as_secs_f64(),
        events: summary.stats.events,
        terms: summary.stats.terms,
        starts: summary.stats.starts,
        batches: summary.stats.commits,
        faults: summary.faults.all().map(|(fault, n)| (fault.name(), n)).collect(),
        never_happened: missing.iter().map(|fault: &Fault| fault.name()).collect(),
        violations: &summary.violations,
    };
    if arguments.json {
        print_json(&report);
    } else {
        print_report(&report, &summary);
    }
    let is_sound = report.violations.is_empty() && missing.is_empty();
    if is_sound { Ok(()) } else { Err(CommandError::Broken) }
}

fn print_report(report: &Report<'_>, summary: &PartitionSummary) {
    print_line!(
        "{} seeds, {} simulated in {}: {} events, {} terms",
        show_count(report.seeds),
        show_long(summary.stats.simulated),
        show_ms(report.seconds * 1e3),
        show_count(report.events),
        show_count(report.terms),
    );
    print_line!(
        "{} starts of partitions, {} batches of documents written",
        show_count(report.starts),
        show_count(report.batches),
    );
    print_line!("\nfaults");
    print_counts(&report.faults);
    print_line!();
    for name in &report.never_happened {
        print_line!("fault {name} never happened: this campaign proves too little");
    }
    for (seed, violation) in report.violations {
        print_line!("seed {seed} breaks {violation}");
        print_line!("  cargo run --release -p baton-sim -- partitions --seed {seed} --trace");
    }
    print_line!("{} violations", report.violations.len());
}
