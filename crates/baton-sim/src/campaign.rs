//! Many seeds, on all cores, summed up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::coverage::Coverage;
use crate::fact::Fact;
use crate::invariants::{Checker, Violation};
use crate::outcome::{GapCause, Outcome};
use crate::plan::Plan;
use crate::trace::Trace;
use crate::world::World;

/// The sum of many runs.
#[derive(Default)]
pub struct Summary {
    pub seeds: u64,
    /// The broken promises, by seed.
    pub violations: BTreeMap<u64, Violation>,
    pub coverage: Coverage,
    pub simulated: Duration,
    pub events: u64,
    pub terms: u64,
    pub requests: BTreeMap<&'static str, u64>,
    /// Times without a leader, by cause.
    pub gaps: BTreeMap<GapCause, Vec<Duration>>,
}

impl Summary {
    fn add(&mut self, outcome: Outcome) {
        self.seeds += 1;
        self.coverage.add(&outcome.coverage);
        self.simulated += outcome.stats.simulated;
        self.events += outcome.stats.events;
        self.terms += outcome.stats.terms.len() as u64;
        for (kind, count) in &outcome.stats.requests {
            *self.requests.entry(kind).or_default() += count;
        }
        for (cause, gap) in outcome.stats.gaps() {
            self.gaps.entry(cause).or_default().push(gap);
        }
        if let Some(violation) = outcome.violation {
            self.violations.insert(outcome.seed, violation);
        }
    }
}

/// Runs one plan.
pub fn run_plan(plan: Plan, trace: Trace) -> Outcome {
    World::new(Arc::new(plan), trace).run()
}

/// Runs seeds from `first` on: `count` of them, or until `stop` says so, on `jobs` threads.
pub fn run_seeds(
    first: u64,
    count: u64,
    jobs: usize,
    stop: &(dyn Fn(&Summary) -> bool + Sync),
) -> Summary {
    let run = |seed| run_plan(Plan::draw(seed), Trace::Off);
    sum_up((first, count), jobs, &run, &Summary::add, stop)
}

/// Runs the seeds of either world on `jobs` threads, and adds each outcome to a sum.
pub fn sum_up<O, S: Default + Send>(
    (first, count): (u64, u64),
    jobs: usize,
    run: &(dyn Fn(u64) -> O + Sync),
    add: &(dyn Fn(&mut S, O) + Sync),
    stop: &(dyn Fn(&S) -> bool + Sync),
) -> S {
    let next = AtomicU64::new(first);
    let enough = AtomicBool::new(false);
    let summary = Mutex::new(S::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed - first >= count {
                        break;
                    }
                    let outcome = run(seed);
                    let mut summary = summary.lock().expect("no thread panics while summing up");
                    add(&mut summary, outcome);
                    if stop(&summary) {
                        enough.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    summary.into_inner().expect("no thread panics while summing up")
}

/// Runs a seed with a promise that no run can keep, that no term ever ends; `false` means that the
/// checkers are not looking.
pub fn canary_dies(seed: u64) -> bool {
    let mut world = World::new(Arc::new(Plan::draw(seed)), Trace::Off);
    let mut terms = 0;
    let canary = move |fact: &Fact<'_>| {
        terms += u64::from(matches!(fact, Fact::TermStarted { .. }));
        if terms > 1 { Err("a term ended".to_owned()) } else { Ok(()) }
    };
    world.add_checker(Checker::new("none", "canary", canary));
    world.run().violation.is_some_and(|violation| violation.invariant == "canary")
}
