//! Every state within bounds: all clocks, 2 and 3 nodes, one table.

use crate::exhaustive::{Bounds, Findings, search};
use crate::figures::{show_count, show_ms};
use crate::stopwatch::Stopwatch;
use baton_store::ExpiryClock;
use serde::Serialize;

use super::CommandError;
use super::print::{name_of, print_json, print_line};

/// Fewer distinct states than this, over all configurations, prove too little.
const STATES_NEEDED: u64 = 1_000_000;

const HEAD: &str = "\
nodes  clock       faults ticks      states  transitions deepest     terms \
takeovers  all seen violations";

#[derive(clap::Args)]
pub struct ExhaustiveArguments {
    /// Number of nodes, 2 or 3; by default first 2, then 3.
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=3))]
    nodes: Option<u8>,
    /// Last tick of a run; a lease lasts 5 ticks.
    #[arg(long, value_name = "TICKS")]
    horizon: Option<u32>,
    /// Largest number of faults in one run, of any kinds and at any times.
    #[arg(long, value_name = "NUMBER")]
    faults: Option<u8>,
    /// Number of distinct states after which a configuration is stopped.
    #[arg(long, value_name = "NUMBER", default_value_t = 4_000_000)]
    states: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    configurations: Vec<Findings>,
    states: u64,
    states_needed: u64,
    transitions: u64,
    violations: usize,
    seconds: f64,
}

/// Searches every configuration that was asked for.
pub fn run(arguments: &ExhaustiveArguments) -> Result<(), CommandError> {
    let watch = Stopwatch::default();
    if !arguments.json {
        print_line!("{HEAD}");
    }
    let mut configurations = Vec::new();
    for nodes in [2_u8, 3].into_iter().filter(|n| arguments.nodes.is_none_or(|only| only == *n)) {
        for clock in [ExpiryClock::Store, ExpiryClock::StoreLease, ExpiryClock::Observer] {
            for bounds in asked_for(arguments, nodes.into(), clock) {
                let findings = search(bounds, arguments.states);
                if !arguments.json {
                    print_row(&findings);
                }
                configurations.push(findings);
            }
        }
    }
    let report = Report {
        states: configurations.iter().map(|one| one.states).sum(),
        states_needed: STATES_NEEDED,
        transitions: configurations.iter().map(|one| one.transitions).sum(),
        violations: configurations.iter().filter(|one| one.found.is_some()).count(),
        seconds: watch.elapsed().as_secs_f64(),
        configurations,
    };
    if arguments.json {
        print_json(&report);
    } else {
        print_verdict(&report);
    }
    let sound = report.violations == 0 && report.states >= STATES_NEEDED;
    if sound { Ok(()) } else { Err(CommandError::Broken) }
}

/// The default bounds, or those asked for; alike ones once.
fn asked_for(arguments: &ExhaustiveArguments, nodes: usize, clock: ExpiryClock) -> Vec<Bounds> {
    let mut asked = Bounds::defaults(nodes, clock);
    for bounds in &mut asked {
        bounds.horizon = arguments.horizon.unwrap_or(bounds.horizon);
        bounds.faults = arguments.faults.unwrap_or(bounds.faults);
    }
    asked.dedup_by_key(|bounds| (bounds.horizon, bounds.faults));
    asked
}

fn print_row(one: &Findings) {
    print_line!(
        "{:>5}  {:<11} {:>6} {:>5} {:>11} {:>12} {:>7} {:>9} {:>9} {:>9} {:>10}",
        one.bounds.nodes,
        name_of(&one.bounds.clock),
        one.bounds.faults,
        one.bounds.horizon,
        show_count(one.states),
        show_count(one.transitions),
        one.deepest,
        show_count(one.begun),
        one.takeovers,
        if one.complete { "yes" } else { "no" },
        u8::from(one.found.is_some()),
    );
    if let Some(found) = &one.found {
        print_line!("breaks {}: {}", found.broken.promise, found.broken.what);
        for line in &found.path {
            print_line!("  {line}");
        }
    }
}

fn print_verdict(report: &Report) {
    print_line!(
        "\n{} distinct states and {} transitions in {}; S1, S2, S4 and rule 6 checked in each",
        show_count(report.states),
        show_count(report.transitions),
        show_ms(report.seconds * 1e3),
    );
    if report.states < STATES_NEEDED {
        print_line!(
            "fewer than {} distinct states: this proves too little",
            show_count(STATES_NEEDED)
        );
    }
    print_line!("{} violations", report.violations);
}
