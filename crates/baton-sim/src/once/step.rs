//! What can happen next.

use std::fmt;

use super::state::{Request, Stage, State};

/// One thing that happens. All but the last five are no faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A process is started in a slot, and sends its first read.
    Start(usize),
    /// A process that waits sends a read.
    Look(usize),
    /// The store carries out the request of a process.
    Serve(usize),
    /// The answer reaches the process.
    Answer(usize),
    /// A process that waits is granted a term.
    Grant(usize),
    /// The work ends by itself, well or not.
    WorkEnds(usize, bool),
    /// A process learns that its term is over.
    Learn(usize),
    /// A write without a sender that waits reaches the store.
    Arrive(usize),
    /// The answer to a write is lost, or the write itself, which may then be late.
    Lose(usize),
    /// A process dies.
    Crash(usize),
    /// The term of a process ends, and its work is stopped. It has not learned so yet.
    Expire(usize),
    /// A run is given back without an end, while its term lasts.
    GiveBack(usize),
    /// A term is granted, and no process learns so.
    GrantLost,
}

impl Step {
    /// Does it cost a fault?
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Self::Lose(_) | Self::Crash(_) | Self::Expire(_) | Self::GiveBack(_) | Self::GrantLost
        )
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(slot) => write!(f, "n{slot} is started and sends a read"),
            Self::Look(slot) => write!(f, "n{slot} looks: it sends a read"),
            Self::Serve(slot) => write!(f, "the store carries out the request of n{slot}"),
            Self::Answer(slot) => write!(f, "n{slot} gets its answer"),
            Self::Grant(slot) => write!(f, "n{slot} is granted a term"),
            Self::WorkEnds(slot, true) => write!(f, "the work of n{slot} is done"),
            Self::WorkEnds(slot, false) => write!(f, "the work of n{slot} fails"),
            Self::Learn(slot) => write!(f, "n{slot} learns that its term is over"),
            Self::Arrive(at) => write!(f, "late write {at} reaches the store"),
            Self::Lose(slot) => write!(f, "n{slot} gets no answer to its write"),
            Self::Crash(slot) => write!(f, "n{slot} dies"),
            Self::Expire(slot) => write!(f, "the term of n{slot} ends, and its work is stopped"),
            Self::GiveBack(slot) => write!(f, "n{slot} gives its run back without an end"),
            Self::GrantLost => write!(f, "a term is granted, and no process learns so"),
        }
    }
}

impl State {
    /// All that can happen next.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.late.len()).map(Step::Arrive).collect();
        if self.faults > 0 && self.leader.is_none() && self.slots.iter().any(Option::is_some) {
            steps.push(Step::GrantLost);
        }
        for slot in 0..self.slots.len() {
            self.steps_of(slot, &mut steps);
        }
        steps
    }

    fn steps_of(&self, slot: usize, steps: &mut Vec<Step>) {
        let Some(process) = &self.slots[slot] else {
            // Slots are alike: of those that are empty, the first is taken.
            if self.starts > 0 && self.slots[..slot].iter().all(Option::is_some) {
                steps.push(Step::Start(slot));
            }
            return;
        };
        let leads = self.leads(slot);
        match &process.request {
            Some(Request::Read(None) | Request::Write(_, None)) => steps.push(Step::Serve(slot)),
            Some(_) => steps.push(Step::Answer(slot)),
            None => {}
        }
        match &process.stage {
            Stage::Starting => {}
            Stage::Waiting(_) => {
                if process.request.is_none() {
                    steps.push(Step::Look(slot));
                }
                if self.leader.is_none() {
                    steps.push(Step::Grant(slot));
                }
            }
            Stage::Leading(..) | Stage::Ending(..) if !leads => steps.push(Step::Learn(slot)),
            Stage::Leading(..) | Stage::Ending(..) => {}
            Stage::Running(..) => {
                steps.extend([true, false].map(|is_done| Step::WorkEnds(slot, is_done)));
            }
        }
        if self.faults == 0 {
            return;
        }
        steps.push(Step::Crash(slot));
        if matches!(process.request, Some(Request::Write(..))) {
            steps.push(Step::Lose(slot));
        }
        if leads {
            steps.push(Step::Expire(slot));
            if matches!(process.stage, Stage::Running(..)) {
                steps.push(Step::GiveBack(slot));
            }
        }
    }
}
