//! Many seeds, on all cores, summed up.

use std::collections::BTreeMap;

use super::fault::{Fault, FaultCounts};
use super::plan::Plan;
use super::world::{PartitionOutcome, Stats, run_plan};
use crate::campaign::sum_up;
use crate::invariants::Violation;
use crate::trace::Trace;

/// The sum of many runs.
#[derive(Default)]
pub struct PartitionSummary {
    pub seeds: u64,
    /// The broken promises, by seed.
    pub violations: BTreeMap<u64, Violation>,
    pub faults: FaultCounts,
    pub stats: Stats,
}

impl PartitionSummary {
    fn add(&mut self, outcome: PartitionOutcome) {
        self.seeds += 1;
        self.faults.add(&outcome.faults);
        let (sum, one) = (&mut self.stats, &outcome.stats);
        sum.simulated += one.simulated;
        sum.events += one.events;
        sum.terms += one.terms;
        sum.starts += one.starts;
        sum.commits += one.commits;
        if let Some(violation) = outcome.violation {
            self.violations.insert(outcome.seed, violation);
        }
    }

    /// The faults that never happened.
    pub fn missing(&self) -> Vec<Fault> {
        self.faults.all().filter(|(_, count)| *count == 0).map(|(fault, _)| fault).collect()
    }
}

/// Runs seeds from `first` on: `count` of them, or until `stop` says so, on `jobs` threads.
pub fn run_seeds(
    first: u64,
    count: u64,
    jobs: usize,
    stop: &(dyn Fn(&PartitionSummary) -> bool + Sync),
) -> PartitionSummary {
    let run = |seed| run_plan(Plan::draw(seed), Trace::Off);
    sum_up((first, count), jobs, &run, &PartitionSummary::add, stop)
}
