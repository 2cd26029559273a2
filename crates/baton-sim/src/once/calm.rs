//! When faults are over: from every state all processes end, within a bound.

#![expect(clippy::disallowed_types, reason = "its keys are not random, and it is never walked")]

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::state::{Process, Request, Stage, State};
use super::step::Step;
use super::witness::Broken;
use crate::exhaustive::fingerprint;

/// More steps than this until all have ended are taken for no end.
const STEPS_MAX: u32 = 40;

/// How many steps it takes from states in calm until all processes have ended.
#[derive(Default)]
pub struct Calm {
    known: HashMap<u128, u32, BuildHasherDefault<DefaultHasher>>,
    /// The most of any state.
    pub longest: u32,
}

impl Calm {
    /// Lets a state go on without faults, starts and late writes until all processes have ended.
    /// The steps that were taken, and what they break.
    pub fn run(&mut self, from: &State) -> Result<(), (Vec<Step>, Broken)> {
        let (mut state, mut steps, mut passed) = (calmed(from), Vec::new(), Vec::new());
        let left = loop {
            let print = fingerprint(&state);
            if let Some(left) = self.known.get(&print) {
                break *left;
            }
            passed.push(print);
            let Some(step) = next(&state) else {
                if state.slots.iter().all(Option::is_none) {
                    break 0;
                }
                return Err((steps, waits_for_ever()));
            };
            steps.push(step);
            state = state.apply(step).map_err(|broken| (steps.clone(), broken))?;
            if steps.len() as u32 > STEPS_MAX {
                return Err((steps, waits_for_ever()));
            }
        };
        let last = steps.len() as u32 + left;
        self.longest = self.longest.max(last);
        for (at, print) in passed.into_iter().enumerate() {
            self.known.insert(print, last - at as u32);
        }
        Ok(())
    }
}

fn waits_for_ever() -> Broken {
    let what = format!("not all processes have ended, nor will within {STEPS_MAX} steps of calm");
    Broken { invariant: "all_end", what }
}

/// The state without what may yet go wrong.
fn calmed(state: &State) -> State {
    State { faults: 0, starts: 0, late: Vec::new(), ..state.clone() }
}

/// What happens next in calm: requests are answered, work is done, the first that waits leads.
/// `None` once all have ended.
fn next(state: &State) -> Option<Step> {
    let of = |(slot, process): (usize, &Option<Process>)| {
        let process = process.as_ref()?;
        match (&process.request, &process.stage) {
            (Some(Request::Read(None) | Request::Write(_, None)), _) => Some(Step::Serve(slot)),
            (Some(_), _) => Some(Step::Answer(slot)),
            (None, Stage::Running(..)) => Some(Step::WorkEnds(slot, true)),
            (None, Stage::Waiting(_)) if state.leader.is_none() => Some(Step::Grant(slot)),
            (None, _) => None,
        }
    };
    let learns = |(slot, process): (usize, &Option<Process>)| {
        let is_over = process.as_ref()?.epoch().is_some() && !state.leads(slot);
        is_over.then_some(Step::Learn(slot))
    };
    let mut all = state.slots.iter().enumerate();
    all.clone().find_map(learns).or_else(|| all.find_map(of))
}
