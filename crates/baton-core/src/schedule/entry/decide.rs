//! What the leader does with a schedule: decides on due slots, starts runs, records their ends.

use super::{
    ActiveRun, AttemptEnd, CONCURRENT_MAX, Entry, HistoryEntry, LOSSES_MAX, MESSAGE_MAX,
    MissReason, RunOutcome, RunState, Step,
};
use crate::event::Event;
use crate::planted::planted;
use crate::schedule::definition::{Overlap, Schedule, WAITING_MAX};
use crate::schedule::due::{self, MissedSlots};
use crate::schedule::on_crash::OnCrash;
use crate::schedule::slot::{RunId, Slot};
use crate::time::whole_ms;

/// The first and the longest pause before a run that failed is tried again.
const RETRY_MIN: std::time::Duration = std::time::Duration::from_secs(1);
const RETRY_MAX: std::time::Duration = std::time::Duration::from_secs(60);

impl Entry {
    /// All that is to be done now, for a schedule that this leader has declared.
    pub(in crate::schedule) fn advance(&mut self, schedule: &Schedule, step: &mut Step<'_>) {
        self.settle_cut_off(step);
        if self.is_active() || planted!(PauseIgnored) {
            self.decide_due(schedule, step);
        }
        self.start_retries(step);
        self.start_waiting(step);
    }

    /// Attempts of earlier schedulers: no process of them runs any more. And what waits to be tried
    /// again is not, once the schedule is removed.
    pub(in crate::schedule) fn settle_cut_off(&mut self, step: &mut Step<'_>) {
        let is_removed = self.undeclared_ms.is_some();
        let is_over = |run: &ActiveRun| match run.state {
            RunState::RetryAt(_) => is_removed && !planted!(RemovedRunsStay),
            RunState::Running | RunState::Stopping => run.claimant < step.claimant,
        };
        let (over, kept): (Vec<_>, _) =
            std::mem::take(&mut self.running).into_iter().partition(is_over);
        self.running = kept;
        for run in over {
            match run.state {
                RunState::RetryAt(_) => self.finish(&run, RunOutcome::Abandoned, step),
                RunState::Running | RunState::Stopping => self.cut_off(run, step),
            }
        }
    }

    /// Runs it again, or not: that is the user's choice.
    fn cut_off(&mut self, mut run: ActiveRun, step: &mut Step<'_>) {
        let is_once = self.definition.on_crash == OnCrash::Skip && !planted!(CutOffRunRepeated);
        run.losses += 1;
        match run.state {
            RunState::Stopping => self.finish(&run, RunOutcome::Replaced, step),
            _ if planted!(CutOffRunForgotten) => {}
            _ if is_once || run.losses > LOSSES_MAX || self.undeclared_ms.is_some() => {
                self.finish(&run, RunOutcome::Abandoned, step);
            }
            _ => {
                run.state = RunState::RetryAt(step.now_ms);
                self.running.push(run);
            }
        }
    }

    fn decide_due(&mut self, schedule: &Schedule, step: &mut Step<'_>) {
        if planted!(StepBackDecidesAgain) && self.last.at_ms > step.now_ms {
            self.last = schedule.recurrence.moment(step.now_ms);
        }
        let Some(due) = due::decide(schedule, &self.last, step.now_ms) else { return };
        self.last = due.newest;
        if let Some(missed) = due.missed {
            self.miss(missed, MissReason::Late, step);
        }
        for slot in due.run {
            self.admit(slot, step);
        }
    }

    /// A slot is to be run, unless a run that is under way or waits keeps it from that.
    fn admit(&mut self, slot: Slot, step: &mut Step<'_>) {
        let mut running = self.running.iter();
        let is_running = match planted!(OverlapForgotten) {
            true => running.any(|run| run.losses == 0),
            false => running.next().is_some(),
        };
        match self.definition.overlap {
            Overlap::Skip if is_running || !self.waiting.is_empty() => {
                return self.miss(one(slot.at_ms), MissReason::Overlap, step);
            }
            Overlap::Replace => self.replace_with(slot, step),
            Overlap::Skip | Overlap::Allow | Overlap::Queue => {}
        }
        if self.waiting.len() >= WAITING_MAX {
            return self.miss(one(slot.at_ms), MissReason::TooMany, step);
        }
        self.waiting.push(slot.into());
    }

    /// Stops what runs, and drops what waits, for a newer slot.
    fn replace_with(&mut self, slot: Slot, step: &mut Step<'_>) {
        for run in &mut self.running {
            if run.state == RunState::Running {
                run.state = RunState::Stopping;
            }
        }
        let pauses = |run: &ActiveRun| matches!(run.state, RunState::RetryAt(_));
        let (paused, rest): (Vec<_>, _) =
            std::mem::take(&mut self.running).into_iter().partition(pauses);
        self.running = rest;
        for run in paused {
            self.finish(&run, RunOutcome::Replaced, step);
        }
        let older = |id: &RunId| id.requested == 0 && id.at_ms < slot.at_ms;
        let (dropped, kept): (Vec<_>, _) =
            std::mem::take(&mut self.waiting).into_iter().partition(older);
        self.waiting = kept;
        for id in dropped {
            self.miss(one(id.at_ms), MissReason::Overlap, step);
        }
    }

    /// The attempts of this schedule that may run at a time.
    pub(super) fn attempts_max(&self) -> usize {
        match self.definition.overlap {
            Overlap::Allow => CONCURRENT_MAX,
            Overlap::Skip | Overlap::Queue | Overlap::Replace => 1,
        }
    }

    /// The attempts that are claimed and have not ended.
    pub(super) fn attempts(&self) -> usize {
        let pauses = |run: &&ActiveRun| matches!(run.state, RunState::RetryAt(_));
        self.running.len() - self.running.iter().filter(pauses).count()
    }

    /// The runs that keep others from being started.
    fn under_way(&self) -> usize {
        let is_forgotten =
            |run: &ActiveRun| run.state == RunState::Stopping && planted!(ReplacedRunsOn);
        let counts = |run: &&ActiveRun| !self.is_held(run) && !is_forgotten(run);
        self.running.iter().filter(counts).count()
    }

    /// Does it wait for the end of a pause to be tried again? What people ask for does not.
    pub(super) fn is_held(&self, run: &ActiveRun) -> bool {
        let pauses = matches!(run.state, RunState::RetryAt(_));
        pauses && run.id.requested == 0 && self.paused_ms.is_some()
    }

    fn start_retries(&mut self, step: &mut Step<'_>) {
        // Several runs may wait for it since the time when they were allowed to overlap.
        let mut free = self.attempts_max().saturating_sub(self.attempts());
        if planted!(RetriesOverlap) {
            free = usize::MAX;
        }
        let is_due = |state| matches!(state, RunState::RetryAt(at_ms) if at_ms <= step.now_ms);
        for at in 0..self.running.len() {
            if free == 0 || !is_due(self.running[at].state) || self.is_held(&self.running[at]) {
                continue;
            }
            free -= 1;
            let run = &mut self.running[at];
            run.attempt += 1;
            run.claimant = step.claimant;
            run.node = step.node.clone();
            run.since_ms = step.now_ms;
            run.state = RunState::Running;
            step.events.push(started(&self.definition.name, run, step.now_ms));
        }
    }

    fn start_waiting(&mut self, step: &mut Step<'_>) {
        // What people ask for also runs while the schedule is paused.
        let may_run = |id: &RunId| match id.requested {
            0 => self.paused_ms.is_none(),
            _ => true,
        };
        while self.under_way() < self.attempts_max()
            && let Some(at) = self.waiting.iter().position(may_run)
        {
            let run = ActiveRun {
                id: self.waiting.remove(at),
                attempt: 1,
                failures: 0,
                losses: 0,
                claimant: step.claimant,
                node: step.node.clone(),
                since_ms: step.now_ms,
                state: RunState::Running,
            };
            step.events.push(started(&self.definition.name, &run, step.now_ms));
            self.running.push(run);
        }
    }

    /// An attempt of this scheduler has ended. Nothing if that is known already.
    pub(in crate::schedule) fn end_attempt(
        &mut self,
        (id, attempt): (RunId, u32),
        end: AttemptEnd,
        step: &mut Step<'_>,
    ) {
        let is_meant = |run: &ActiveRun| {
            (run.id, run.attempt, run.claimant) == (id, attempt, step.claimant)
                && !matches!(run.state, RunState::RetryAt(_))
        };
        let Some(at) = self.running.iter().position(is_meant) else { return };
        let mut run = self.running.remove(at);
        let is_replaced = run.state == RunState::Stopping;
        let outcome = match end {
            AttemptEnd::Done => RunOutcome::Done,
            _ if is_replaced => RunOutcome::Replaced,
            AttemptEnd::CutOff => return self.cut_off(run, step),
            AttemptEnd::Failed(message) => {
                RunOutcome::Failed(message.chars().take(MESSAGE_MAX).collect())
            }
            AttemptEnd::TimedOut => RunOutcome::TimedOut,
            AttemptEnd::Stopped => RunOutcome::Abandoned,
        };
        let may_repeat = matches!(outcome, RunOutcome::Failed(_) | RunOutcome::TimedOut);
        if may_repeat && run.failures < self.definition.retries && !planted!(RetriesForgotten) {
            let pause = RETRY_MIN * 2_u32.pow(run.failures.min(10));
            run.failures += 1;
            let retry_at_ms = step.now_ms + whole_ms(pause.min(RETRY_MAX));
            run.state = RunState::RetryAt(retry_at_ms);
            step.events.push(ended(self.name(), &run, &outcome, (step.now_ms, Some(retry_at_ms))));
            self.running.insert(at, run);
            return;
        }
        self.finish(&run, outcome, step);
    }

    fn finish(&mut self, run: &ActiveRun, outcome: RunOutcome, step: &mut Step<'_>) {
        self.totals.done += u64::from(outcome == RunOutcome::Done);
        self.totals.failed += u64::from(outcome.is_failure());
        step.events.push(ended(self.name(), run, &outcome, (step.now_ms, None)));
        self.remember(HistoryEntry::Run {
            id: run.id,
            attempts: run.attempt,
            node: run.node.clone(),
            started_ms: run.since_ms,
            ended_ms: step.now_ms,
            outcome,
        });
    }
}

fn one(at_ms: u64) -> MissedSlots {
    MissedSlots { count: 1, first_ms: at_ms, last_ms: at_ms }
}

fn started(schedule: &str, run: &ActiveRun, now_ms: u64) -> Event {
    Event::ScheduleStarted {
        schedule: schedule.to_owned(),
        slot_ms: run.id.at_ms,
        attempt: run.attempt,
        late_ms: now_ms.saturating_sub(run.id.at_ms),
    }
}

fn ended(
    schedule: &str,
    run: &ActiveRun,
    outcome: &RunOutcome,
    (now_ms, retry_at_ms): (u64, Option<u64>),
) -> Event {
    Event::ScheduleEnded {
        schedule: schedule.to_owned(),
        slot_ms: run.id.at_ms,
        attempt: run.attempt,
        took_ms: now_ms.saturating_sub(run.since_ms),
        outcome: outcome.clone(),
        retry_at_ms,
    }
}
