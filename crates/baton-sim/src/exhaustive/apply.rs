//! Taking a step: from a state to the next.

use baton_core::protocol::{Failure, Reply, RequestId};
use baton_core::{Command, Input, LifelineReport};

use super::act::Transition;
use super::bounds::{Model, WrongRule, slot_of_boot};
use super::check::judge;
use super::node::{Process, RunState};
use super::state::{Arrival, Message, Payload, State, hashed};
use super::step::{ReplyTime, Step};

impl State {
    /// Takes a step.
    pub fn apply<'a>(&self, model: &'a Model, step: Step) -> Transition<'a> {
        let mut run = Transition { model, state: self.clone(), begun: false, broken: None };
        run.take(step);
        run.note_closed(self);
        let seen = judge(&run.state.answers());
        run.break_promise(seen);
        run
    }
}

impl Transition<'_> {
    fn take(&mut self, step: Step) {
        self.state.left -= u8::from(step.is_always_fault());
        match step {
            Step::Tick => self.tick(),
            Step::Start(slot) | Step::Restart(slot) => self.start(slot.into()),
            Step::Timer(slot, timer) => {
                let fire = |process: &mut Process| process.timers[timer as usize] = None;
                self.handle(slot.into(), fire, Input::Timer(timer));
            }
            Step::Serve(at, answer) => self.reach_store(at.into(), answer),
            Step::Deliver(at) => {
                let Message { slot, id, payload, .. } =
                    self.state.flying.remove(at.into()).clone_out();
                if let Payload::Reply(reply) = payload {
                    self.reach_node(slot, id, reply);
                }
            }
            Step::Lose(at) => drop(self.state.flying.remove(at.into())),
            Step::Slow(at) => self.set_arrival(at.into(), Arrival::Slow),
            Step::Delay(at) => self.set_arrival(at.into(), Arrival::Late),
            Step::TimeOut(slot, number) => self.time_out(slot.into(), number.into()),
            Step::Stopped(slot) => self.work_stopped(slot.into()),
            Step::Hint(at) => {
                let (slot, hint) = self.state.hints.remove(at.into());
                self.handle(slot, |_| {}, Input::Hint(hint));
            }
            Step::Prove(slot) => self.prove(slot.into()),
            Step::Refuse(slot) => self.refuse(slot.into()),
            Step::Resign(slot) => {
                self.handle(slot.into(), |_| {}, Input::Command(Command::Resign));
            }
            Step::Pause(slot) => {
                self.state.change_process(slot.into(), |one| one.state = RunState::JustPaused);
            }
            Step::Resume(slot) => self.state.change_process(slot.into(), |one| {
                one.state = RunState::Running;
                one.lag += std::mem::take(&mut one.slept);
            }),
            Step::Crash(slot) => {
                let slot = usize::from(slot);
                let dead = self.state.slots[slot].clone();
                if let Some(process) = dead.process.as_ref() {
                    self.forget_replies(process);
                }
                self.state.change(slot, |slot| slot.process = None);
            }
        }
    }

    fn tick(&mut self) {
        let kept = |message: &Message| !self.state.is_over(message);
        self.state.flying =
            self.state.flying.iter().filter(|message| kept(message)).cloned().collect();
        self.state.hints.clear();
        self.state.tick += 1;
        let stands_still = u32::from(self.model.is(WrongRule::PauseStopsClock));
        let counts = u32::from(self.model.is(WrongRule::ResumeSetsClockBack));
        for slot in 0..self.state.slots.len() {
            if self.state.process(slot).is_some_and(|one| !one.is_running()) {
                self.state.change_process(slot, |one| {
                    one.state = RunState::Paused;
                    one.lag += stands_still;
                    one.slept += counts;
                });
            }
        }
    }

    fn start(&mut self, slot: usize) {
        let model = self.model;
        self.state.change(slot, |place| {
            place.process = Some(Process::new(model.core(slot, place.generation)));
            place.generation += 1;
        });
        self.handle(slot, |_| {}, Input::Start);
    }

    fn set_arrival(&mut self, at: usize, arrival: Arrival) {
        let message = self.state.flying[at].clone_out();
        self.state.flying[at] = hashed(Message { arrival, ..message });
    }

    fn reach_store(&mut self, at: usize, answer: ReplyTime) {
        let message = self.state.flying.remove(at).clone_out();
        let sender = self.state.process(message.slot).filter(|one| one.boot() == message.boot);
        let awaited = sender.is_some() && message.arrival != Arrival::Late;
        let running = sender.is_some_and(Process::is_running);
        let Payload::Request(request) = message.payload.clone() else { return };
        let reply = self.ask_store(request);
        match answer {
            ReplyTime::Now => self.reach_node(message.slot, message.id, reply),
            ReplyTime::Later => {
                self.state.left -= u8::from(running);
                self.state.fly(Message { payload: Payload::Reply(reply), ..message });
            }
            ReplyTime::Never => self.state.left -= u8::from(awaited),
        }
    }

    fn reach_node(&mut self, slot: usize, id: RequestId, reply: Reply) {
        let answered = |one: &mut Process| one.waiting.retain(|(waiting, _)| *waiting != id);
        self.handle(slot, answered, Input::Replied { id, reply });
    }

    /// The sender gives up. No process waits for a reply that comes after all.
    fn time_out(&mut self, slot: usize, number: usize) {
        let Some(process) = self.state.process(slot) else { return };
        let (boot, (id, _)) = (process.boot(), process.waiting[number]);
        let kept =
            |m: &Message| m.boot != boot || m.id != id || matches!(m.payload, Payload::Request(_));
        self.state.flying.retain(|message| kept(message));
        let give_up = |one: &mut Process| {
            one.waiting.remove(number);
        };
        self.handle(slot, give_up, Input::Failed { id, failure: Failure::Unknown });
    }

    fn work_stopped(&mut self, slot: usize) {
        let stopping = self.state.process(slot).and_then(|one| one.stopping);
        let Some((epoch, _)) = stopping else { return };
        let really = !self.model.is(WrongRule::StopIsNoProof);
        let stop = |one: &mut Process| {
            one.stopping = None;
            if really && one.working == Some(epoch) {
                one.working = None;
            }
        };
        self.handle(slot, stop, Input::TermStopped { epoch });
    }

    /// The process that dials is refused, or hears another boot id if the node has started anew.
    fn prove(&mut self, slot: usize) {
        let watched = self.state.process(slot).and_then(|one| one.watch);
        let Some(boot) = watched.map(|watch| watch.boot) else { return };
        let occupant = self.state.process(slot_of_boot(boot)).map(Process::boot);
        let report = match occupant.filter(|occupant| *occupant != boot) {
            Some(other) => LifelineReport::OtherBoot(other),
            None => LifelineReport::Refused,
        };
        let tell = |one: &mut Process| {
            if let Some(watch) = one.watch.as_mut() {
                watch.is_reported = true;
            }
        };
        let own_host = slot_of_boot(boot) == slot;
        self.handle(slot, tell, Input::Lifeline { boot, report, own_host });
    }

    /// A firewall resets the connection to a live process, and refuses the next dial.
    fn refuse(&mut self, slot: usize) {
        let watched = self.state.process(slot).and_then(|one| one.watch);
        let Some(boot) = watched.map(|watch| watch.boot) else { return };
        for report in [LifelineReport::Broken, LifelineReport::Refused] {
            self.handle(slot, |_| {}, Input::Lifeline { boot, report, own_host: false });
        }
    }

    /// Remembers which windows this step closed, for rule 6.
    fn note_closed(&mut self, before: &State) {
        for slot in 0..self.state.slots.len() {
            let open = |state: &State| {
                let one = state.process(slot)?;
                Some((one.boot(), one.open(one.clock(slot, state.tick))))
            };
            let (Some((boot, Some(was))), Some((same, is))) = (open(before), open(&self.state))
            else {
                continue;
            };
            if boot == same && is != Some(was) {
                self.state.change_process(slot, |one| one.closed = one.closed.max(was));
            }
        }
    }
}
