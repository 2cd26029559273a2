//! A step taken: the state after it, or the promise that it breaks.

use baton_core::ids::Epoch;
use baton_core::planted::planted;
use baton_core::schedule::once::{
    EndingStep, OnceAction, OnceCause, OnceEnd, OnceEnding, OnceRecord, OnceTerm, OnceWait,
    OnceWrite, OnceWritten,
};
use baton_store::Precondition;

use super::state::{Process, Request, Stage, State, node};
use super::step::Step;
use super::witness::{Broken, Seen, Witness};

/// The time of day, which decides nothing.
const NOW_MS: u64 = 0;

impl State {
    /// The state after a step.
    pub fn apply(&self, step: Step) -> Result<Self, Broken> {
        let mut next = self.clone();
        next.faults -= u8::from(step.is_fault());
        next.take(step)?;
        next.late.sort_by_key(|(epoch, write)| (*epoch, write.over, write.record.attempt));
        Ok(next)
    }

    fn take(&mut self, step: Step) -> Result<(), Broken> {
        match step {
            Step::Start(slot) => {
                self.starts -= 1;
                let (stage, request) = (Stage::Starting, Some(Request::Read(None)));
                self.slots[slot] = Some(Process { stage, request, seen: Seen::default() });
            }
            Step::Look(slot) => self.process(slot).request = Some(Request::Read(None)),
            Step::Serve(slot) => return self.serve(slot),
            Step::Answer(slot) => return self.answer(slot),
            Step::Grant(slot) => {
                self.store.granted = Epoch(self.store.granted.0 + 1);
                self.leader = Some(slot);
                if let Stage::Waiting(wait) = self.process(slot).stage {
                    self.lead(slot, wait);
                }
            }
            Step::WorkEnds(slot, is_done) => return self.work_ends(slot, is_done),
            Step::Learn(slot) => self.learn(slot),
            Step::Arrive(at) => {
                let (epoch, write) = self.late.remove(at);
                self.write(epoch, &write)?;
            }
            Step::Lose(slot) => {
                self.send_late(slot);
                return self.written(slot, OnceWritten::Unsure);
            }
            Step::Crash(slot) => {
                self.send_late(slot);
                self.leave(slot);
            }
            Step::Expire(slot) => {
                self.leader = None;
                if let Stage::Running(wait, ..) = self.process(slot).stage {
                    self.waits(slot, wait);
                }
            }
            Step::GiveBack(slot) => {
                if let Stage::Running(wait, ..) = self.process(slot).stage {
                    self.witness.stops(slot);
                    self.lead(slot, wait);
                }
            }
            Step::GrantLost => self.store.granted = Epoch(self.store.granted.0 + 1),
        }
        Ok(())
    }

    fn process(&mut self, slot: usize) -> &mut Process {
        self.slots[slot].as_mut().expect("a step is offered for a process that is there")
    }

    /// The epoch of the term that lasts.
    fn term(&self) -> Option<Epoch> {
        self.slots[self.leader?].as_ref()?.epoch()
    }

    /// A process leads: in a new term, or still.
    fn lead(&mut self, slot: usize, wait: OnceWait) {
        let epoch = self.store.granted;
        let process = self.process(slot);
        process.stage = Stage::Leading(wait, epoch, OnceTerm::new(wait, epoch, node(slot)));
        process.request = Some(Request::Read(None));
    }

    /// A process waits, and leads no more.
    fn waits(&mut self, slot: usize, wait: OnceWait) {
        self.witness.stops(slot);
        self.leader = self.leader.filter(|leader| *leader != slot);
        let process = self.process(slot);
        (process.stage, process.request) = (Stage::Waiting(wait), None);
    }

    /// A process is gone.
    fn leave(&mut self, slot: usize) {
        self.witness.stops(slot);
        self.leader = self.leader.filter(|leader| *leader != slot);
        self.slots[slot] = None;
    }

    /// The process waits no longer for the write that it has sent.
    fn send_late(&mut self, slot: usize) {
        let process = self.process(slot);
        let epoch = process.epoch();
        if let Some(Request::Write(write, None)) = process.request.take() {
            self.late.push((epoch.expect("a leader writes"), write));
        }
    }

    fn serve(&mut self, slot: usize) -> Result<(), Broken> {
        let found = self.store.read();
        let process = self.process(slot);
        let epoch = process.epoch();
        let is_first = matches!(process.stage, Stage::Starting);
        let request = match process.request.take() {
            Some(Request::Write(write, _)) => {
                let written = self.write(epoch.expect("a leader writes"), &write)?;
                Request::Write(write, Some(written))
            }
            _ => Request::Read(Some(found)),
        };
        let Self { slots, witness, store, .. } = self;
        if let Some(process) = slots[slot].as_mut() {
            process.request = Some(request);
            if is_first {
                witness.began(&mut process.seen, store);
            }
        }
        Ok(())
    }

    /// The store carries out a write.
    fn write(&mut self, epoch: Epoch, write: &OnceWrite) -> Result<OnceWritten, Broken> {
        let over = match write.over {
            _ if planted!(OnceWriteRaces) => Precondition::Any,
            0 => Precondition::Absent,
            version => Precondition::Version(version),
        };
        let fence = (!planted!(OnceWriteWithoutFence)).then_some(epoch);
        let (before, term) = (self.store.clone(), self.term());
        let written = self.store.write(write, over, fence);
        if let OnceWritten::Yes(_) = written {
            let all = self.slots.iter_mut().flatten().map(|process| &mut process.seen);
            self.witness.landed((epoch, write), &before, term, all)?;
        }
        Ok(written)
    }

    fn answer(&mut self, slot: usize) -> Result<(), Broken> {
        let on_crash = self.witness.on_crash();
        let process = self.process(slot);
        let found = match process.request.take() {
            Some(Request::Read(Some(found))) => found,
            Some(Request::Write(_, Some(written))) => return self.written(slot, written),
            _ => return Ok(()),
        };
        match process.stage.clone() {
            Stage::Starting => {
                let wait = OnceWait::since(found.record.as_ref(), on_crash);
                process.stage = Stage::Waiting(wait);
                // A key whose work is done needs no node.
                self.look(slot, &wait, found.record.as_ref())
            }
            Stage::Waiting(wait) => self.look(slot, &wait, found.record.as_ref()),
            Stage::Leading(wait, epoch, mut term) => {
                let action = term.handle_read(found, NOW_MS);
                process.stage = Stage::Leading(wait, epoch, term);
                self.act(slot, action)
            }
            Stage::Running(..) => Ok(()),
            Stage::Ending(_, _, ending, _) => {
                let step = ending.handle_read(&found);
                self.record(slot, &ending, step)
            }
        }
    }

    fn written(&mut self, slot: usize, written: OnceWritten) -> Result<(), Broken> {
        let process = self.process(slot);
        match process.stage.clone() {
            Stage::Leading(wait, epoch, mut term) => {
                let action = term.handle_written(written);
                process.stage = Stage::Leading(wait, epoch, term);
                self.act(slot, action)
            }
            Stage::Ending(_, _, ending, _) => {
                let step = ending.handle_written(written);
                self.record(slot, &ending, step)
            }
            Stage::Starting | Stage::Waiting(_) | Stage::Running(..) => Ok(()),
        }
    }

    fn look(
        &mut self,
        slot: usize,
        wait: &OnceWait,
        record: Option<&OnceRecord>,
    ) -> Result<(), Broken> {
        match wait.look(record) {
            Some(end) => self.ended(slot, &end),
            None => Ok(()),
        }
    }

    /// A process ends with this outcome.
    fn ended(&mut self, slot: usize, end: &OnceEnd) -> Result<(), Broken> {
        let seen = self.process(slot).seen;
        self.witness.ended(slot, &seen, end, &self.store)?;
        self.leave(slot);
        Ok(())
    }

    /// What a leader does next.
    fn act(&mut self, slot: usize, action: OnceAction) -> Result<(), Broken> {
        let leads = self.leads(slot);
        let process = self.process(slot);
        let Stage::Leading(mut wait, epoch, _) = process.stage.clone() else { return Ok(()) };
        match action {
            OnceAction::Read => process.request = Some(Request::Read(None)),
            OnceAction::Write(write) => process.request = Some(Request::Write(write, None)),
            OnceAction::End(end) => return self.ended(slot, &end),
            OnceAction::Resign => self.waits(slot, wait),
            OnceAction::Run(claim) => {
                wait.handed_out(epoch);
                if !leads {
                    // Its window is closed, so it starts nothing.
                    self.waits(slot, wait);
                    return Ok(());
                }
                process.stage = Stage::Running(wait, epoch, claim.clone());
                let Self { slots, witness, store, .. } = self;
                let all = slots.iter_mut().enumerate();
                let all = all.filter_map(|(at, one)| Some((at, &mut one.as_mut()?.seen)));
                return witness.starts(slot, &claim, store, all);
            }
        }
        Ok(())
    }

    fn work_ends(&mut self, slot: usize, is_done: bool) -> Result<(), Broken> {
        self.witness.stops(slot);
        let process = self.process(slot);
        let Stage::Running(wait, epoch, claim) = process.stage.clone() else { return Ok(()) };
        let ending = match is_done {
            true => claim.succeeded(NOW_MS, 0),
            false => claim.failed(NOW_MS, OnceCause::Exit(1)),
        };
        process.stage = Stage::Ending(wait, epoch, ending.clone(), is_done);
        let step = ending.begin();
        self.record(slot, &ending, step)
    }

    /// What follows in recording an end.
    fn record(&mut self, slot: usize, ending: &OnceEnding, step: EndingStep) -> Result<(), Broken> {
        let term = self.term().filter(|_| self.leads(slot));
        let process = self.process(slot);
        let Stage::Ending(wait, epoch, _, is_done) = process.stage.clone() else { return Ok(()) };
        match step {
            EndingStep::Write(write) => process.request = Some(Request::Write(write, None)),
            EndingStep::Read => process.request = Some(Request::Read(None)),
            EndingStep::Recorded => {
                let end = ending.end().expect("it says how the work ended");
                return self.ended(slot, &end);
            }
            EndingStep::NotRecorded => {
                Witness::not_recorded(slot, epoch, term)?;
                self.give_up(slot, wait, is_done);
            }
        }
        Ok(())
    }

    /// The end of a run could not be recorded. One that failed is told to the caller all the same.
    fn give_up(&mut self, slot: usize, wait: OnceWait, is_done: bool) {
        match is_done {
            true => self.waits(slot, wait),
            false => self.leave(slot),
        }
    }

    /// A process learns that its term is over.
    fn learn(&mut self, slot: usize) {
        self.send_late(slot);
        match self.process(slot).stage.clone() {
            Stage::Leading(wait, ..) => self.waits(slot, wait),
            Stage::Ending(wait, _, _, is_done) => self.give_up(slot, wait, is_done),
            Stage::Starting | Stage::Waiting(_) | Stage::Running(..) => {}
        }
    }
}
