//! The world of partitions: coordinators one after another over processes that come and go, with
//! the production machines of both sides.
//!
//! ```text
//!   seed ──► plan ──► world: terms granted one after another, each with a Coordinator;
//!                       │    processes, each with a Holder and the work that it started;
//!                       │    a store of documents, records and a view; clocks; a storm, then calm
//!                       │ facts: starts and ends of work, writes, what is left in the calm
//!                       ▼
//!                  invariants ──► Outcome ──► scripted: sums ──► the command `partitions`
//! ```
//!
//! Leadership is scripted, since the election has a world of its own: terms have rising epochs, and
//! what is left of older ones goes on sending requests until it learns that it is over.

mod fact;
mod fault;
mod invariants;
mod plan;
mod store;
mod world;

use crate::scripted::{Outcome, ScriptedWorld};
use crate::trace::Trace;
use fault::Fault;
use plan::Plan;

/// This world.
pub struct Partitions;

impl ScriptedWorld for Partitions {
    const COMMAND: &'static str = "partitions";
    type Fault = Fault;
    type Plan = Plan;

    fn draw(seed: u64) -> Plan {
        Plan::draw(seed)
    }

    fn run(plan: Plan, trace: Trace) -> Outcome<Fault> {
        world::run_plan(plan, trace)
    }
}
