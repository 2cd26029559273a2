//! Everything that can happen next in a state.

use baton_core::ids::BootId;
use baton_core::timer::Timer;

use super::bounds::{LATE_TICKS, Model, WrongRule, slot_of_boot};
use super::node::{Process, RunState};
use super::state::{Arrival, Message, Payload, State};

/// What becomes of the store's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyTime {
    Now,
    /// It arrives when its request is about to time out, or after a pause.
    Later,
    Never,
}

/// One thing that happens. Numbers are slots, or places in the state's own lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The clock goes on.
    Tick,
    /// A node starts for the first time.
    Start(u8),
    Timer(u8, Timer),
    Serve(u8, ReplyTime),
    /// A reply that took its time reaches its node.
    Deliver(u8),
    Lose(u8),
    Slow(u8),
    Delay(u8),
    /// A node gives up waiting for one of its requests.
    TimeOut(u8, u8),
    /// A node's work has stopped, as it was told.
    Stopped(u8),
    Hint(u8),
    /// A node is shown that the process whose lifeline it watches is dead.
    Prove(u8),
    /// A firewall resets the connection to the lifeline that a node watches, and refuses its dials.
    Refuse(u8),
    Resign(u8),
    Pause(u8),
    /// A process goes on after a pause.
    Resume(u8),
    Crash(u8),
    /// A node starts anew after a crash.
    Restart(u8),
}

impl Step {
    /// Is it one of the faults whose number is limited, whatever the state? A reply that comes
    /// later or never counts too, unless its node is paused or gone.
    pub fn is_always_fault(self) -> bool {
        matches!(
            self,
            Self::Lose(_)
                | Self::Slow(_)
                | Self::Delay(_)
                | Self::Refuse(_)
                | Self::Resign(_)
                | Self::Pause(_)
                | Self::Crash(_)
                | Self::Restart(_)
        )
    }
}

impl State {
    /// All steps that can be taken from here. A tick has three parts:
    ///
    /// 1. what is due in a node happens, node by node: no other node can tell in which order;
    /// 2. messages move, in any order, or take another tick;
    /// 3. nothing has to happen any more: faults may, or the clock goes on. Whatever a fault sets
    ///    off happens in the same tick, so that after a fault come parts 1 and 2 again.
    pub fn steps(&self, model: &Model) -> Vec<Step> {
        let mut steps = Vec::new();
        for (slot, one) in self.processes().filter(|(_, one)| one.is_running()) {
            self.due_steps(slot, one, &mut steps);
            if !steps.is_empty() {
                // After a pause a reply may be there as well: either comes first.
                self.replies(|message| message.slot == slot, &mut steps);
                return steps;
            }
        }
        for (at, message) in self.flying.iter().enumerate() {
            self.request_steps(at as u8, message, &mut steps);
        }
        self.replies(|_| true, &mut steps);
        for (slot, one) in self.processes() {
            if one.is_running() && one.stopping.is_some_and(|(_, by)| by <= self.tick) {
                steps.push(Step::Stopped(slot as u8));
            }
        }
        if self.is_quiet() {
            self.quiet_steps(model, &mut steps);
        }
        steps
    }

    /// Part 1: a timer or the end of a wait.
    fn due_steps(&self, slot: usize, one: &Process, steps: &mut Vec<Step>) {
        if let Some(timer) = one.due_timer(one.clock(slot, self.tick)) {
            steps.push(Step::Timer(slot as u8, timer));
        }
        for (number, (id, due)) in one.waiting.iter().enumerate() {
            let is_it =
                |m: &Message| m.boot == one.boot() && m.id == *id && m.arrival != Arrival::Late;
            let hopeless = !self.flying.iter().any(|message| is_it(message));
            if self.tick > *due || (self.tick == *due && hopeless) {
                steps.push(Step::TimeOut(slot as u8, number as u8));
            }
        }
    }

    /// Part 2, to the store. What is lost or takes its time does so from the start: no node sees
    /// a request under way, so that it would come to the same later.
    fn request_steps(&self, at: u8, message: &Message, steps: &mut Vec<Step>) {
        if matches!(message.payload, Payload::Reply(_)) {
            return;
        }
        let is_time = message.arrival == Arrival::Prompt || message.due <= self.tick;
        let sender = self.process(message.slot).filter(|one| one.boot() == message.boot);
        let Some(sender) = sender.filter(|_| message.arrival != Arrival::Late) else {
            steps.extend(is_time.then_some(Step::Serve(at, ReplyTime::Never)));
            return;
        };
        let (prompt, faulty) = (message.arrival == Arrival::Prompt, self.left > 0);
        if is_time && sender.is_running() {
            steps.push(Step::Serve(at, ReplyTime::Now));
        }
        if is_time && (!sender.is_running() || (prompt && faulty)) {
            steps.push(Step::Serve(at, ReplyTime::Later));
        }
        if is_time && faulty {
            steps.push(Step::Serve(at, ReplyTime::Never));
        }
        if prompt && faulty {
            steps.extend([Step::Lose(at), Step::Slow(at), Step::Delay(at)]);
        }
    }

    /// Part 2, to the nodes.
    fn replies(&self, which: impl Fn(&Message) -> bool, steps: &mut Vec<Step>) {
        for (at, message) in self.flying.iter().enumerate() {
            let back = matches!(message.payload, Payload::Reply(_)) && message.due <= self.tick;
            if back && which(message) && self.process(message.slot).is_some_and(Process::is_running)
            {
                steps.push(Step::Deliver(at as u8));
            }
        }
    }

    /// Part 3: has everything happened that must happen in this tick?
    fn is_quiet(&self) -> bool {
        let busy = |one: &Process| {
            let stop_due = one.stopping.is_some_and(|(_, by)| by <= self.tick);
            let reply_due = one.waiting.iter().any(|(_, due)| *due <= self.tick);
            one.is_running() && (stop_due || reply_due)
        };
        let undecided = |message: &Message| {
            let awaited = self.is_alive(message.slot, message.boot);
            let out = matches!(message.payload, Payload::Request(_)) && awaited;
            match message.arrival {
                Arrival::Prompt => out,
                Arrival::Slow => out && message.due <= self.tick,
                Arrival::Late => false,
            }
        };
        !self.processes().any(|(_, one)| busy(one))
            && !self.flying.iter().any(|message| undecided(message))
    }

    fn quiet_steps(&self, model: &Model, steps: &mut Vec<Step>) {
        let unstarted = self.slots.iter().any(|slot| slot.generation == 0);
        if self.tick < model.bounds.horizon && !(unstarted && self.tick >= model.bounds.start_by) {
            steps.push(Step::Tick);
        }
        for (at, slot) in self.slots.iter().enumerate() {
            match &slot.process {
                Some(process) => self.process_steps(model, at, process, steps),
                None if slot.generation == 0 => steps.push(Step::Start(at as u8)),
                None if self.left > 0 => steps.push(Step::Restart(at as u8)),
                None => {}
            }
        }
        for (at, (slot, _)) in self.hints.iter().enumerate() {
            if self.process(*slot).is_some_and(Process::is_running) {
                steps.push(Step::Hint(at as u8));
            }
        }
    }

    fn process_steps(&self, model: &Model, slot: usize, one: &Process, steps: &mut Vec<Step>) {
        let at = slot as u8;
        if self.left > 0 {
            steps.push(Step::Crash(at));
        }
        if !one.is_running() {
            if one.state == RunState::Paused {
                steps.push(Step::Resume(at));
            }
            return;
        }
        if self.left > 0 {
            steps.push(Step::Pause(at));
        }
        if one.stopping.is_some() {
            steps.push(Step::Stopped(at));
        }
        if one.watch.is_some_and(|watch| !watch.is_reported && self.is_gone(model, watch.boot)) {
            steps.push(Step::Prove(at));
        }
        if self.left > 0 && one.watch.is_some_and(|watch| !self.is_gone(model, watch.boot)) {
            steps.push(Step::Refuse(at));
        }
        if self.left > 0 && one.core.is_leader(one.clock(slot, self.tick)) {
            steps.push(Step::Resign(at));
        }
    }

    /// Only a true death can be proved: a paused process still accepts connections.
    fn is_gone(&self, model: &Model, boot: BootId) -> bool {
        match self.process(slot_of_boot(boot)).filter(|process| process.boot() == boot) {
            Some(process) => model.is(WrongRule::PausedIsDead) && !process.is_running(),
            None => true,
        }
    }

    /// Is this message gone by the next tick? One of a dead process goes with its connection.
    pub fn is_over(&self, message: &Message) -> bool {
        let awaited = self.is_alive(message.slot, message.boot);
        match message.arrival {
            Arrival::Late => message.due + LATE_TICKS <= self.tick,
            Arrival::Prompt | Arrival::Slow => !awaited && message.due <= self.tick,
        }
    }
}
