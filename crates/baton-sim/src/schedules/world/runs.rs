//! Runs: how long they take, how they end, and what cuts them off.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::schedule::{ActiveRun, AttemptEnd, AttemptId};

use super::term::Delivery;
use super::{Event, World};
use crate::schedules::fact::{Fact, TrueEnd};
use crate::schedules::fault::Fault;

/// The end of a run, if no other one was set since.
pub struct RunEnd {
    attempt: AttemptId,
    number: u64,
    end: TrueEnd,
}

impl World {
    /// Starts an attempt, if the term may still start work.
    pub(super) fn start_run(&mut self, epoch: Epoch, attempt: AttemptId, run: &ActiveRun) {
        let Some(term) = self.terms.get_mut(&epoch).filter(|term| term.may_start) else {
            return self.line(|| format!("e{epoch} may not start {attempt:?}"));
        };
        term.runs.insert(attempt.clone(), 0);
        self.stats.count("attempts", 1);
        self.line(|| format!("e{epoch} starts {attempt:?}"));
        self.fact(&Fact::Started { attempt: &attempt, run });
        let (takes, end) = self.draw_end(&attempt.schedule);
        self.end_after(epoch, attempt, takes, end);
    }

    fn draw_end(&mut self, schedule: &str) -> (Duration, TrueEnd) {
        let takes = self.about(self.plan.run_time);
        let entry = self.store.pages().iter().find_map(|page| page.entry(schedule));
        let timeout_ms = entry.map_or(0, |entry| entry.definition.timeout_ms);
        let timeout = Duration::from_millis(timeout_ms);
        if timeout_ms > 0 && takes > timeout {
            self.count(Fault::RunTimesOut);
            return (timeout, TrueEnd::Ended(AttemptEnd::TimedOut));
        }
        if self.plan.has(Fault::RunFails) && self.rng.one_in(self.plan.failure_one_in) {
            self.count(Fault::RunFails);
            let failed = AttemptEnd::Failed("exit code 1".to_owned());
            return (takes, TrueEnd::Ended(failed));
        }
        if self.plan.has(Fault::WorkLost) && !self.is_calm && self.rng.one_in(20) {
            self.count(Fault::WorkLost);
            return (takes / 2, TrueEnd::Ended(AttemptEnd::CutOff));
        }
        (takes, TrueEnd::Ended(AttemptEnd::Done))
    }

    fn end_after(&mut self, epoch: Epoch, attempt: AttemptId, takes: Duration, end: TrueEnd) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        term.run_numbers += 1;
        let number = term.run_numbers;
        term.runs.insert(attempt.clone(), number);
        self.after(takes, Event::RunEnds(epoch, RunEnd { attempt, number, end }));
    }

    /// An attempt is told to stop. It may be done all the same.
    pub(super) fn stop_run(&mut self, epoch: Epoch, attempt: &AttemptId) {
        let runs = self.terms.get(&epoch).is_some_and(|term| term.runs.contains_key(attempt));
        if runs {
            let takes = self.span_ms(0, 900);
            let end = if self.rng.one_in(6) { AttemptEnd::Done } else { AttemptEnd::Stopped };
            self.end_after(epoch, attempt.clone(), takes, TrueEnd::Ended(end));
        }
    }

    /// An attempt is told to stop because its term ends: what is not done by then is cut off.
    pub(super) fn stop_with_term(&mut self, epoch: Epoch, attempt: &AttemptId) {
        let takes = self.span_ms(0, 900);
        let end = match self.rng.one_in(3) {
            true => TrueEnd::Ended(AttemptEnd::Done),
            false => TrueEnd::CutOff,
        };
        self.end_after(epoch, attempt.clone(), takes, end);
    }

    pub(super) fn run_ends(&mut self, epoch: Epoch, end: RunEnd) {
        let RunEnd { attempt, number, end } = end;
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        if term.runs.get(&attempt) != Some(&number) {
            return;
        }
        term.runs.remove(&attempt);
        let reports = term.reports;
        self.line(|| format!("e{epoch} {attempt:?} ends: {end:?}"));
        self.fact(&Fact::Ended { attempt: &attempt, end: &end });
        if let (true, TrueEnd::Ended(end)) = (reports, end) {
            self.deliver(epoch, Delivery::Ended { attempt, end });
        }
    }

    /// Whatever runs in a term is killed.
    pub(super) fn kill_runs(&mut self, epoch: Epoch) {
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        for attempt in std::mem::take(&mut term.runs).into_keys() {
            self.line(|| format!("e{epoch} {attempt:?} is killed"));
            self.fact(&Fact::Ended { attempt: &attempt, end: &TrueEnd::CutOff });
        }
    }
}
