//! Tries to break the election code and the scheduler of baton, seed by seed.
//!
//! ```text
//!   seed ──► plan ──► world: the production core × n, simulated store, clocks, network, faults
//!                       │ facts
//!                       ▼
//!                  invariants ──► outcome ──► campaign ──► commands: the report
//! ```
//!
//! Schedules and partitions have worlds of their own, with the same course: see `scripted`,
//! `schedules` and `partitions`. Work that is done once for a key has one of which every state is
//! visited: see `once`.
//!
//! The core runs unmodified. Everything that can differ between two runs is drawn from the seed.

mod campaign;
mod clock;
pub mod commands;
mod cost;
mod coverage;
mod exhaustive;
mod fact;
mod figures;
mod invariants;
mod once;
mod outcome;
mod partitions;
mod plan;
mod schedules;
mod scripted;
mod shrink;
mod stopwatch;
pub mod timeline;
mod trace;
mod what_if;
mod world;
