//! The second world: schedules under one leader after another, with the production scheduler.
//!
//! ```text
//!   seed ──► plan ──► world: terms granted one after another, each with a Scheduler; runs,
//!                       │    people, deploys, wall clocks; a store with the rules of the memory
//!                       │    store; faults on the way there and back; a storm, then calm
//!                       │ facts: commits, starts, ends, grants, what is left in the calm
//!                       ▼
//!                  invariants ──► ScheduleOutcome ──► campaign ──► the command `schedules`
//! ```
//!
//! Leadership is scripted, since the election has a world of its own: at most one term may start
//! runs, and what is left of older ones goes on sending requests.

pub mod campaign;
mod commit;
mod fact;
mod fault;
mod invariants;
mod plan;
mod store;
mod world;
mod zones;

pub use fault::Fault;
pub use plan::Plan;
pub use world::run_plan;
