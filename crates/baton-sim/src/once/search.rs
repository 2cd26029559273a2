//! Breadth first, so that the first path found to a broken promise is a shortest one.

use serde::Serialize;

use super::calm::Calm;
use super::state::{Bounds, State};
use super::step::Step;
use super::witness::Broken;
use crate::exhaustive::{Visited, fingerprint};

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
    /// The most steps that it takes in calm until all processes have ended.
    pub longest_calm: u32,
    pub found: Option<Counterexample>,
}

/// A broken promise, and how to get there.
#[derive(Clone, Debug, Serialize)]
pub struct Counterexample {
    #[serde(flatten)]
    pub broken: Broken,
    /// The steps that lead there from the start, a line each.
    pub path: Vec<String>,
}

#[cfg(baton_bugs)]
impl Findings {
    /// What was broken, if anything.
    pub fn violation(&self) -> Option<crate::invariants::Violation> {
        let Broken { invariant, what } = self.found.as_ref()?.broken.clone();
        let (promise, at) = (super::PROMISE.to_owned(), baton_core::time::Moment::default());
        let invariant = invariant.to_owned();
        Some(crate::invariants::Violation { invariant, promise, at, message: what })
    }
}

/// Visits every state within the bounds, until a promise is broken.
pub fn search(bounds: Bounds) -> Findings {
    let first = State::first(&bounds);
    let mut visited = Visited::new(fingerprint(&first), Step::GrantLost);
    let mut calm = Calm::default();
    let mut frontier = vec![(0, first)];
    let mut findings =
        Findings { bounds, states: 1, transitions: 0, deepest: 0, longest_calm: 0, found: None };
    while !frontier.is_empty() {
        let mut farther = Vec::new();
        for (number, state) in frontier {
            for step in state.steps() {
                findings.transitions += 1;
                let found = |more: Vec<Step>, broken| {
                    let steps = visited.path(number).into_iter().chain([step]).chain(more);
                    Some(Counterexample { broken, path: steps.map(|it| it.to_string()).collect() })
                };
                let next = match state.apply(step) {
                    Ok(next) => next,
                    Err(broken) => {
                        findings.found = found(Vec::new(), broken);
                        return findings;
                    }
                };
                let print = fingerprint(&next);
                if visited.knows(print) {
                    continue;
                }
                if let Err((more, broken)) = calm.run(&next) {
                    findings.found = found(more, broken);
                    return findings;
                }
                if let Some(new) = visited.insert(print, number, step) {
                    findings.states += 1;
                    farther.push((new, next));
                }
            }
        }
        findings.deepest += u32::from(!farther.is_empty());
        findings.longest_calm = calm.longest;
        frontier = farther;
    }
    findings
}
