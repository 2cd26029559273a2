//! A user's own settings, run through what their environment does to them.
//!
//! ```text
//!   file ──► config: settings + environment
//!                 │
//!      cause ──► script ──► world × strikes ──► gaps ──► figures of the cause ┐
//!      every day's faults ──► world × days ──► lived ─────────────────────────┤
//!      nothing ──► world × an hour ──► store operations ──────────────────────┴──► report, advice
//!      one of each ──► world ──► plot
//! ```
//!
//! Failover time runs from when the last leader could no longer act to when the next one
//! starts to work. A paused process cannot act, nor can one whose machine has no network; one that
//! merely lacks the store can, until its window closes.

mod advice;
mod cause;
mod config;
mod environment;
mod gaps;
pub mod plot;
mod report;
mod scripts;

pub use cause::Cause;
pub use config::Config;
pub use environment::Environment;
pub use gaps::{Gap, leaderless};
pub use report::{CauseReport, Report, SimulatedDays, report};

use std::sync::Arc;

use crate::invariants::Violation;
use crate::outcome::Stats;
use crate::trace::Trace;
use crate::world::{Script, World};

/// Larger clusters than this are not checked for broken promises: it takes too long.
const CHECKED_NODES: usize = 50;

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    pub nodes: usize,
    pub days: u32,
    pub runs: u32,
    pub seed: u64,
}

/// Runs a script with a user's settings. A broken promise would be a bug of baton's.
fn run(config: &Config, options: &RunOptions, script: &Script) -> Result<Stats, Violation> {
    let plan = config.environment.plan(options.nodes, config.settings.clone(), options.seed);
    let world = World::scripted(Arc::new(plan), script, Trace::Off);
    let checked = options.nodes <= CHECKED_NODES;
    let outcome = if checked { world } else { world.unchecked() }.run();
    outcome.violation.map_or(Ok(outcome.stats), Err)
}
