//! Carrying out what a core decides.

use std::collections::VecDeque;

use baton_core::ids::BootId;
use baton_core::protocol::{Hint, Release, Request, RequestId};
use baton_core::{Action, Input, LifelineReport};

use super::bounds::{Model, slot_of_boot};
use super::check::{BrokenPromise, epoch_grows, stopped_before_release};
use super::node::{Process, Watch};
use super::state::{Arrival, Message, Payload, State, hashed};
use super::store::serve;

/// A step under way.
pub struct Transition<'a> {
    pub model: &'a Model,
    pub state: State,
    pub begun: bool,
    /// The first promise it breaks.
    pub broken: Option<BrokenPromise>,
}

impl Transition<'_> {
    /// Hands an input to a process, after `before` has changed what the runtime keeps for it, and
    /// carries everything out that comes of it.
    pub fn handle(&mut self, slot: usize, before: impl FnOnce(&mut Process), input: Input) {
        let mut changed = self.state.slots[slot].clone_out();
        if let Some(process) = changed.process.as_mut() {
            before(process);
        }
        let mut inputs = VecDeque::from([input]);
        while let (Some(input), Some(process)) = (inputs.pop_front(), changed.process.as_mut()) {
            let now = process.clock(slot, self.state.tick);
            let mut halts = false;
            for action in process.core.handle(now, input) {
                halts |= action == Action::Halt;
                inputs.extend(self.carry_out(slot, process, action));
            }
            if halts {
                self.forget_replies(process);
                changed.process = None;
            }
        }
        self.state.slots[slot] = hashed(changed);
    }

    /// Carries one action out. What is answered at once comes back as an input.
    fn carry_out(&mut self, slot: usize, process: &mut Process, action: Action) -> Option<Input> {
        match action {
            Action::Send { id, request, timeout } => {
                let due = self.state.tick + Model::ticks(timeout);
                return self.send(slot, process, (id, due), request);
            }
            Action::SetTimer { timer, at } => process.timers[timer as usize] = Some(at),
            Action::CancelTimer(timer) => process.timers[timer as usize] = None,
            Action::StartTerm { epoch, .. } => {
                let new = (epoch, process.boot());
                self.break_promise(epoch_grows(self.state.last, new));
                self.state.last = Some(new);
                self.begun = true;
                process.working = Some(epoch);
                return Some(Input::TermStarted { epoch });
            }
            Action::StopTerm { epoch, .. } => {
                process.stopping = Some((epoch, self.state.tick + self.model.stop_grace()));
            }
            Action::WatchLifeline { boot, .. } => {
                process.watch = Some(Watch { boot, is_reported: false });
                return self.connect(boot);
            }
            Action::UnwatchLifeline { boot } => {
                process.watch = process.watch.filter(|watch| watch.boot != boot);
            }
            Action::Tell { to, hint } => {
                if let Some(to) = self.model.slot_of(&to).filter(|_| !only_hastens(&hint)) {
                    self.state.hints.push((to, hint));
                    self.state.hints.sort_by_key(|(to, _)| *to);
                }
            }
            // No node of this model coordinates partitions.
            Action::MembersRead(_) | Action::Prepare | Action::Emit(_) | Action::Halt => {}
        }
        None
    }

    /// A watch is connected at once, unless the process is paused or gone.
    fn connect(&self, boot: BootId) -> Option<Input> {
        let target = self.state.process(slot_of_boot(boot));
        let lives = target.is_some_and(|target| target.boot() == boot && target.is_running());
        let report = LifelineReport::Alive;
        lives.then_some(Input::Lifeline { boot, report, own_host: false })
    }

    fn send(
        &mut self,
        slot: usize,
        process: &mut Process,
        (id, due): (RequestId, u32),
        request: Request,
    ) -> Option<Input> {
        // These do not touch the lease: to carry them out at once saves most of the states.
        if matches!(request, Request::ReadMembers | Request::PublishView { .. }) {
            let reply = self.ask_store(request);
            return Some(Input::Replied { id, reply });
        }
        if let Request::Release(Release { expect, .. }) = &request {
            self.break_promise(stopped_before_release(process.working, expect.epoch));
        }
        process.waiting.push((id, due));
        let (boot, payload) = (process.boot(), Payload::Request(request));
        self.state.fly(Message { boot, id, slot, due, arrival: Arrival::Prompt, payload });
        None
    }

    /// A request reaches the store.
    pub fn ask_store(&mut self, request: Request) -> baton_core::protocol::Reply {
        let mut space = self.state.store.clone_out();
        let reply = serve(self.model, self.state.tick, &mut space, request);
        self.state.store = hashed(space);
        reply
    }

    /// A process is gone: no process is left to receive its replies.
    pub fn forget_replies(&mut self, process: &Process) {
        let boot = process.boot();
        let kept = |message: &Message| {
            message.boot != boot || matches!(message.payload, Payload::Request(_))
        };
        self.state.flying.retain(|message| kept(message));
    }

    /// Keeps the first promise that is broken.
    pub fn break_promise(&mut self, broken: Option<BrokenPromise>) {
        if self.broken.is_none() {
            self.broken = broken;
        }
    }
}

/// Does it only make a node look or read sooner? The states in which such a hint is under way are
/// many times as many: here it is lost. The storms have it.
fn only_hastens(hint: &Hint) -> bool {
    matches!(hint, Hint::Joined { .. } | Hint::Left { .. } | Hint::InLine { .. })
}
