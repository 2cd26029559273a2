//! One seed: its plan, its trace on request, and what came of it.

use crate::campaign::run_plan;
use crate::plan::{Overrides, Plan};
use crate::trace::Trace;
use serde::Serialize;

use super::print::{print_json, print_line, print_text};
use super::{CommandError, reproduction};

#[derive(Serialize)]
struct SeedReport<'a> {
    seed: u64,
    plan: &'a Plan,
    violation: Option<&'a crate::invariants::Violation>,
    events: u64,
    terms: usize,
}

/// Runs one seed.
pub fn run(seed: u64, changes: &Overrides, trace: bool, json: bool) -> Result<(), CommandError> {
    let plan = changes.apply(Plan::draw(seed));
    let keep = if trace { Trace::on() } else { Trace::Off };
    let outcome = run_plan(plan.clone(), keep);
    print_text(&outcome.trace);
    let report = SeedReport {
        seed,
        plan: &plan,
        violation: outcome.violation.as_ref(),
        events: outcome.stats.events,
        terms: outcome.stats.terms.len(),
    };
    if json {
        print_json(&report);
    } else {
        print_line!("plan of seed {seed}\n\n{}", plan_text(&plan));
        match &outcome.violation {
            None => print_line!("all promises kept through {} events", outcome.stats.events),
            Some(broken) => print_line!("breaks {broken}"),
        }
    }
    if outcome.violation.is_some() { Err(CommandError::Broken) } else { Ok(()) }
}

/// Makes a failing seed small and prints the line that reproduces it.
pub fn shrink(seed: u64) {
    match crate::shrink::shrink(seed) {
        None => print_line!("seed {seed} keeps every promise: there is nothing to shrink"),
        Some(overrides) => print_line!("{}", reproduction(seed, &overrides)),
    }
}

/// The plan, as it would stand in a file.
fn plan_text(plan: &Plan) -> String {
    toml::to_string(plan).expect("plain data has a TOML form")
}
