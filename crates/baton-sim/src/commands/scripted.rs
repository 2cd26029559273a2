//! The worlds with scripted leadership: many seeds, or one with its plan and its trace.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use crate::figures::{show_count, show_long, show_ms};
use crate::invariants::Violation;
use crate::scripted::{FaultName, ScriptedWorld, Summary, run_seeds};
use crate::stopwatch::Stopwatch;
use crate::trace::Trace;

use super::campaign::{SEEDS_FOR_COVERAGE, print_counts};
use super::print::{print_json, print_line, print_text};
use super::{CommandError, at_least_one, cores};

/// What can be asked of such a world.
#[derive(Args)]
pub struct WorldArguments {
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
    done: &'a BTreeMap<&'static str, u64>,
    faults: BTreeMap<&'static str, u64>,
    never_happened: Vec<&'static str>,
    violations: &'a BTreeMap<u64, Violation>,
}

/// Runs the command.
pub fn run<W: ScriptedWorld>(arguments: &WorldArguments) -> Result<(), CommandError> {
    match arguments.seed {
        Some(seed) => run_seed::<W>(seed, arguments.trace, arguments.json),
        None => run_campaign::<W>(arguments),
    }
}

fn run_seed<W: ScriptedWorld>(seed: u64, trace: bool, json: bool) -> Result<(), CommandError> {
    let plan = W::draw(seed);
    let shown = plan.to_string();
    let outcome = W::run(plan, if trace { Trace::on() } else { Trace::Off });
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

fn run_campaign<W: ScriptedWorld>(arguments: &WorldArguments) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    let enough = |summary: &Summary<W::Fault>| summary.violations.len() >= 20;
    let summary = run_seeds::<W>(arguments.first, arguments.seeds, cores(), &enough);
    let covers = summary.seeds >= SEEDS_FOR_COVERAGE;
    let missing = summary.faults.all().filter(|(_, count)| covers && *count == 0);
    let missing: Vec<_> = missing.map(|(fault, _)| fault.name()).collect();
    let report = Report {
        seeds: summary.seeds,
        seconds: watch.elapsed().as_secs_f64(),
        simulated_seconds: summary.stats.simulated.as_secs_f64(),
        events: summary.stats.events,
        terms: summary.stats.terms,
        done: &summary.stats.done,
        faults: summary.faults.all().map(|(fault, n)| (fault.name(), n)).collect(),
        never_happened: missing,
        violations: &summary.violations,
    };
    if arguments.json {
        print_json(&report);
    } else {
        print_report::<W>(&report, summary.stats.simulated);
    }
    let is_sound = report.violations.is_empty() && report.never_happened.is_empty();
    if is_sound { Ok(()) } else { Err(CommandError::Broken) }
}

fn print_report<W: ScriptedWorld>(report: &Report<'_>, simulated: Duration) {
    print_line!(
        "{} seeds, {} simulated in {}: {} events, {} terms",
        show_count(report.seeds),
        show_long(simulated),
        show_ms(report.seconds * 1e3),
        show_count(report.events),
        show_count(report.terms),
    );
    let done = report.done.iter().map(|(what, count)| format!("{} {what}", show_count(*count)));
    print_line!("{}", done.collect::<Vec<_>>().join(", "));
    print_line!("\nfaults");
    print_counts(&report.faults);
    print_line!();
    for name in &report.never_happened {
        print_line!("fault {name} never happened: this campaign proves too little");
    }
    for (seed, violation) in report.violations {
        print_line!("seed {seed} breaks {violation}");
        let world = W::COMMAND;
        print_line!("  cargo run --release -p baton-sim -- {world} --seed {seed} --trace");
    }
    print_line!("{} violations", report.violations.len());
}
