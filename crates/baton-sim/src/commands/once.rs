//! Work that is done once: every state within bounds.

use clap::Args;
use serde::Serialize;

use crate::figures::{show_count, show_ms};
use crate::once::{Bounds, Findings, PROMISE, search};
use crate::stopwatch::Stopwatch;

use super::CommandError;
use super::print::{name_of, print_json, print_line};

const HEAD: &str = "\
on crash  processes starts faults      states  transitions deepest longest calm violations";

#[derive(Args)]
pub struct OnceArguments {
    /// Number of processes at a time, 1 to 3; by default first 2, then 3.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=3))]
    processes: Option<u8>,
    /// Number of processes that are started in all.
    #[arg(long, value_name = "NUMBER")]
    starts: Option<u8>,
    /// Largest number of faults in one run, of any kinds and at any times.
    #[arg(long, value_name = "NUMBER")]
    faults: Option<u8>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    configurations: Vec<Findings>,
    states: u64,
    transitions: u64,
    violations: usize,
    seconds: f64,
}

/// Searches every configuration that was asked for.
pub fn run(arguments: &OnceArguments) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    if !arguments.json {
        print_line!("{HEAD}");
    }
    let mut configurations = Vec::new();
    for bounds in asked_for(arguments) {
        let findings = search(bounds);
        if !arguments.json {
            print_row(&findings);
        }
        configurations.push(findings);
    }
    let report = Report {
        states: configurations.iter().map(|one| one.states).sum(),
        transitions: configurations.iter().map(|one| one.transitions).sum(),
        violations: configurations.iter().filter(|one| one.found.is_some()).count(),
        seconds: watch.elapsed().as_secs_f64(),
        configurations,
    };
    if arguments.json {
        print_json(&report);
    } else {
        print_line!(
            "\n{} distinct states and {} transitions in {}",
            show_count(report.states),
            show_count(report.transitions),
            show_ms(report.seconds * 1e3),
        );
        print_line!("{} violations", report.violations);
    }
    if report.violations == 0 { Ok(()) } else { Err(CommandError::Broken) }
}

/// The default bounds, with what was asked for in their place.
fn asked_for(arguments: &OnceArguments) -> Vec<Bounds> {
    let mut asked = Bounds::defaults();
    for bounds in &mut asked {
        bounds.starts = arguments.starts.unwrap_or(bounds.starts);
        bounds.faults = arguments.faults.unwrap_or(bounds.faults);
        bounds.processes = arguments.processes.map_or(bounds.processes, usize::from);
    }
    let mut different = Vec::new();
    for bounds in asked {
        if !different.contains(&bounds) {
            different.push(bounds);
        }
    }
    different
}

fn print_row(one: &Findings) {
    print_line!(
        "{:<8}  {:>9} {:>6} {:>6} {:>11} {:>12} {:>7} {:>12} {:>10}",
        name_of(&one.bounds.on_crash),
        one.bounds.processes,
        one.bounds.starts,
        one.bounds.faults,
        show_count(one.states),
        show_count(one.transitions),
        one.deepest,
        one.longest_calm,
        u8::from(one.found.is_some()),
    );
    if let Some(found) = &one.found {
        let (invariant, what) = (found.broken.invariant, &found.broken.what);
        print_line!("breaks {PROMISE} ({invariant}): {what}");
        for line in &found.path {
            print_line!("  {line}");
        }
    }
}
