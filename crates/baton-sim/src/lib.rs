//! Tries to break baton's core, seed by seed.
//!
//! ```text
//!   seed ──► plan ──► world: the production core × n, simulated store, clocks, network, faults
//!                       │ facts
//!                       ▼
//!                  invariants ──► outcome ──► campaign ──► commands: the report
//! ```
//!
//! The core runs unmodified. Everything that can differ between two runs is drawn from the seed.

pub mod campaign;
pub mod clock;
pub mod commands;
pub mod cost;
pub mod coverage;
pub mod exhaustive;
pub mod fact;
pub mod figures;
pub mod invariants;
pub mod outcome;
pub mod plan;
pub mod shrink;
pub mod stopwatch;
pub mod trace;
pub mod what_if;
pub mod world;
