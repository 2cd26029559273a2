//! Breadth first, so that the first path found to a broken promise is a shortest one.

use serde::Serialize;

use super::bounds::{Bounds, Model};
use super::check::BrokenPromise;
use super::describe::describe;
use super::state::State;
use super::step::Step;
use super::visited::Visited;

/// A broken promise, and how to get there.
#[derive(Clone, Debug, Serialize)]
pub struct Counterexample {
    pub broken: BrokenPromise,
    /// The steps that lead there from the start, a line each.
    pub path: Vec<String>,
}

/// What a search came to.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    #[serde(flatten)]
    pub bounds: Bounds,
    pub states: u64,
    /// Steps taken, to new states and to known ones.
    pub transitions: u64,
    /// How many steps the farthest state is away from the first.
    pub deepest: u32,
    pub begun: u64,
    /// The most often that one process took over from another, up to a term that began.
    pub takeovers: usize,
    pub complete: bool,
    /// The first broken promise.
    pub found: Option<Counterexample>,
}

/// Visits every state within the bounds, or `most` of them.
pub fn search(bounds: Bounds, most: u64) -> Findings {
    let model = Model::new(bounds);
    let first = State::first(&model);
    let mut visited = Visited::new(first.fingerprint(), Step::Tick);
    let mut frontier = vec![(0, first)];
    let mut findings = Findings {
        bounds,
        states: 1,
        transitions: 0,
        deepest: 0,
        begun: 0,
        takeovers: 0,
        complete: true,
        found: None,
    };
    while !frontier.is_empty() && findings.found.is_none() {
        let mut farther = Vec::new();
        for (number, state) in frontier {
            if findings.states >= most {
                findings.complete = false;
                return findings;
            }
            for step in state.steps(&model) {
                let run = state.apply(&model, step);
                findings.transitions += 1;
                if run.begun {
                    findings.term_began(&run.state);
                }
                if let Some(broken) = run.broken {
                    let mut steps = visited.path(number);
                    steps.push(step);
                    findings.found =
                        Some(Counterexample { broken, path: describe(&model, &steps) });
                    return findings;
                }
                if let Some(new) = visited.insert(run.state.fingerprint(), number, step) {
                    findings.states += 1;
                    farther.push((new, run.state));
                }
            }
        }
        findings.deepest += u32::from(!farther.is_empty());
        frontier = farther;
    }
    findings
}

impl Findings {
    fn term_began(&mut self, state: &State) {
        let terms = state.store.history(usize::MAX);
        let others = terms.windows(2).filter(|pair| pair[0].boot != pair[1].boot).count();
        self.begun += 1;
        self.takeovers = self.takeovers.max(others);
    }
}
