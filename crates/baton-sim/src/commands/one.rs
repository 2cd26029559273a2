//! One seed: its plan, its trace on request, and what came of it.

use baton_sim::campaign::run_plan;
use baton_sim::plan::{Overrides, Plan};
use baton_sim::trace::Trace;
use serde::Serialize;

use super::CommandError;

#[derive(Serialize)]
struct OneReport<'a> {
    plan: &'a Plan,
    violation: Option<&'a baton_sim::invariants::Violation>,
    events: u64,
    terms: usize,
}

/// Runs one seed.
pub fn run(seed: u64, changes: &Overrides, trace: bool, json: bool) -> Result<(), CommandError> {
    let plan = changes.apply(Plan::draw(seed));
    let keep = if trace { Trace::kept() } else { Trace::Off };
    let outcome = run_plan(plan.clone(), keep);
    print!("{}", outcome.trace);
    let report = OneReport {
        plan: &plan,
        violation: outcome.violation.as_ref(),
        events: outcome.stats.events,
        terms: outcome.stats.reigns.len(),
    };
    let text = serde_json::to_string_pretty(&report).expect("plain data has a JSON form");
    if json {
        println!("{text}");
    } else {
        println!("plan of seed {seed}: {}", plan_line(&plan));
        match &outcome.violation {
            None => println!("all promises kept through {} events", outcome.stats.events),
            Some(broken) => println!(
                "breaks {} ({}) at {:?}: {}",
                broken.promise, broken.invariant, broken.at, broken.message
            ),
        }
    }
    if outcome.violation.is_some() { Err(CommandError::Broken) } else { Ok(()) }
}

fn plan_line(plan: &Plan) -> String {
    let faults: Vec<&str> = plan.faults.iter().map(|fault| fault.name()).collect();
    let mut text = serde_json::to_value(plan).expect("plain data has a JSON form");
    if let Some(fields) = text.as_object_mut() {
        fields.remove("faults");
        fields.remove("seed");
    }
    format!("{text}\n  faults: {}", faults.join(" "))
}
