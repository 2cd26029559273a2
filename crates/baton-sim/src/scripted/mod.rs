//! What the worlds of schedules and of partitions share: leadership in them is scripted, since the
//! election has a world of its own.
//!
//! ```text
//!   ScriptedWorld::draw ──► plan ──► ScriptedWorld::run ──► Outcome ──► Summary of many seeds
//! ```

mod fault;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use crate::campaign::sum_up;
use crate::invariants::Violation;
use crate::trace::Trace;

pub(crate) use fault::faults;
pub use fault::{FaultCounts, FaultName};

/// A world that is run seed by seed.
pub trait ScriptedWorld {
    /// The command that runs it.
    const COMMAND: &'static str;
    /// What goes wrong in it.
    type Fault: FaultName;
    /// What a seed stands for.
    type Plan: Display;

    /// The plan of a seed.
    fn draw(seed: u64) -> Self::Plan;

    /// Runs a plan to the end, or to the first broken promise.
    fn run(plan: Self::Plan, trace: Trace) -> Outcome<Self::Fault>;
}

/// What came of one run.
pub struct Outcome<F> {
    pub seed: u64,
    /// The first broken promise.
    pub violation: Option<Violation>,
    pub faults: FaultCounts<F>,
    pub stats: Stats,
    pub trace: String,
}

/// Numbers of one run, or of many.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub simulated: Duration,
    pub events: u64,
    pub terms: u64,
    /// What was done, each by its name.
    pub done: BTreeMap<&'static str, u64>,
}

impl Stats {
    /// This was done so many times more.
    pub fn count(&mut self, what: &'static str, times: u64) {
        *self.done.entry(what).or_default() += times;
    }

    fn add(&mut self, other: &Self) {
        self.simulated += other.simulated;
        self.events += other.events;
        self.terms += other.terms;
        for (what, count) in &other.done {
            *self.done.entry(what).or_default() += count;
        }
    }
}

/// The sum of many runs.
pub struct Summary<F> {
    pub seeds: u64,
    /// The broken promises, by seed.
    pub violations: BTreeMap<u64, Violation>,
    pub faults: FaultCounts<F>,
    pub stats: Stats,
}

impl<F: FaultName> Default for Summary<F> {
    fn default() -> Self {
        let (violations, faults) = (BTreeMap::new(), FaultCounts::default());
        Self { seeds: 0, violations, faults, stats: Stats::default() }
    }
}

impl<F: FaultName> Summary<F> {
    fn add(&mut self, outcome: Outcome<F>) {
        self.seeds += 1;
        self.faults.add(&outcome.faults);
        self.stats.add(&outcome.stats);
        if let Some(violation) = outcome.violation {
            self.violations.insert(outcome.seed, violation);
        }
    }
}

/// Runs seeds from `first` on: `count` of them, or until `stop` says so, on `jobs` threads.
pub fn run_seeds<W: ScriptedWorld>(
    first: u64,
    count: u64,
    jobs: usize,
    stop: &(dyn Fn(&Summary<W::Fault>) -> bool + Sync),
) -> Summary<W::Fault> {
    let run = |seed| W::run(W::draw(seed), Trace::Off);
    sum_up((first, count), jobs, &run, &Summary::add, stop)
}
