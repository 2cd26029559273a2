//! The second world: schedules under one leader after another, with the production scheduler.
//!
//! ```text
//!   seed ──► plan ──► world: terms granted one after another, each with a Scheduler; runs,
//!                       │    people, deploys, wall clocks; a store with the rules of the memory
//!                       │    store; faults on the way there and back; a storm, then calm
//!                       │ facts: commits, starts, ends, grants, what is left in the calm
//!                       ▼
//!                  invariants ──► Outcome ──► scripted: sums ──► the command `schedules`
//! ```
//!
//! Leadership is scripted, since the election has a world of its own: at most one term may start
//! runs, and what is left of older ones goes on sending requests.

mod commit;
mod fact;
mod fault;
mod invariants;
mod plan;
mod store;
mod world;
mod zones;

use crate::scripted::{Outcome, ScriptedWorld};
use crate::trace::Trace;
use fault::Fault;
use plan::Plan;

/// This world.
pub struct Schedules;

impl ScriptedWorld for Schedules {
    const COMMAND: &'static str = "schedules";
    type Fault = Fault;
    type Plan = Plan;

    fn draw(seed: u64) -> Plan {
        Plan::draw(seed)
    }

    fn run(plan: Plan, trace: Trace) -> Outcome<Fault> {
        world::run_plan(plan, trace)
    }
}
