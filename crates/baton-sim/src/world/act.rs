//! Something reaches a process: the core handles it, and its actions are carried out.

use baton_core::ids::Epoch;
use baton_core::protocol::{Acquire, Claim, LeaseIntent, Reply, Request};
use baton_core::time::Moment;
use baton_core::{Action, Command, DemotionReason, Event as CoreEvent, Input};

use super::{Delivery, Event, World};
use crate::fact::{Fact, ProcessId, ProcessState};
use crate::outcome::GapCause;
use crate::plan::Fault;

impl World {
    /// Something reaches a process. A paused one finds it when it goes on.
    pub(super) fn deliver(&mut self, pid: ProcessId, delivery: Delivery) {
        let Some(process) = self.process_mut(pid) else { return };
        if process.paused {
            process.inbox.push(delivery);
            return;
        }
        let now = self.machines[pid.slot].clock.read(self.now);
        match delivery {
            Delivery::Start => self.handle(pid, now, Input::Start),
            Delivery::Timer(timer, due) => self.timer(pid, now, timer, due),
            Delivery::Replied(id, reply, stale) => self.replied(pid, now, id, *reply, stale),
            Delivery::Failed(id, failure) => {
                if self.stops_waiting(pid, id) {
                    self.handle(pid, now, Input::Failed { id, failure });
                }
            }
            Delivery::Hint(hint) => self.handle(pid, now, Input::Hint(hint)),
            Delivery::Dial(boot) => self.dial(pid, boot),
            Delivery::Lifeline(boot, report) => {
                self.handle(pid, now, Input::Lifeline { boot, report, own_host: false });
            }
            Delivery::Started(epoch, well) => self.started(pid, now, epoch, well),
            Delivery::Stopped(epoch) => self.stopped(pid, now, epoch),
            Delivery::Work(epoch) => self.work(pid, now, epoch),
            Delivery::Task(epoch, created) => self.task(pid, now, epoch, created),
            Delivery::ClockLeapt(by) => self.handle(pid, now, Input::ClockLeapt { by }),
            Delivery::Command(command) => {
                if let Some(process) = self.process_mut(pid) {
                    match command {
                        Command::Leave => process.leaving = true,
                        Command::SetEligible(eligible) => process.eligible = eligible,
                        _ => {}
                    }
                }
                self.handle(pid, now, Input::Command(command));
            }
        }
    }

    fn timer(&mut self, pid: ProcessId, now: Moment, timer: baton_core::timer::Timer, due: Moment) {
        let Some(process) = self.process_mut(pid) else { return };
        if process.timers[timer as usize] != Some(due) {
            return;
        }
        if now < due {
            // The clock was slowed down since: not yet.
            let at = self.machines[pid.slot].clock.when(due);
            self.queue.push(at, Event::Deliver(pid, Delivery::Timer(timer, due)));
            return;
        }
        process.timers[timer as usize] = None;
        self.handle(pid, now, Input::Timer(timer));
    }

    fn stops_waiting(&mut self, pid: ProcessId, id: baton_core::protocol::RequestId) -> bool {
        self.process_mut(pid).is_some_and(|process| process.waiting.remove(&id).is_some())
    }

    fn replied(
        &mut self,
        pid: ProcessId,
        now: Moment,
        id: baton_core::protocol::RequestId,
        reply: Reply,
        stale: bool,
    ) {
        if !self.stops_waiting(pid, id) {
            return;
        }
        let at = self.now;
        if let Some(process) = self.process_mut(pid) {
            process.last_reply_at = at;
        }
        let shown = match &reply {
            Reply::Beat(beat) => {
                self.stats.beats += 1;
                let taken = beat.registration != baton_core::protocol::Registration::Registered;
                Some((beat.lease.clone(), stale || taken))
            }
            _ => None,
        };
        let seen = self.process(pid).map(|process| process.shown).unwrap_or_default();
        if let Some((lease, stale)) = &shown
            && !stale
            && let Some(process) = self.process_mut(pid)
        {
            let epoch = lease.as_ref().map(|l| l.version.epoch).unwrap_or_default();
            // The grant that is shown now does not count as seen before.
            let own = lease.as_ref().is_some_and(|l| l.is_held_by(pid.boot));
            process.shown = if own { seen } else { seen.max(epoch) };
        }
        self.handle(pid, now, Input::Replied { id, reply });
        if let Some((lease, stale)) = shown
            && let Some(process) = self.process(pid)
        {
            let (state, ended) = (process.state(now), process.ended);
            let lease = lease.as_ref();
            self.fact(&Fact::LeaseShown { pid, lease, stale, state, ended, seen });
        }
    }

    /// Hands an input to the core and carries its actions out.
    pub(super) fn handle(&mut self, pid: ProcessId, now: Moment, input: Input) {
        self.trace.line(self.now, || format!("node {} <- {input:?}", pid.slot));
        let Some(process) = self.process_mut(pid) else { return };
        let actions = process.core.handle(now, input);
        for action in actions {
            self.trace.line(self.now, || format!("node {} -> {action:?}", pid.slot));
            if !matches!(action, Action::Emit(_)) && self.dies_midway(pid) {
                return;
            }
            self.carry_out(pid, now, action);
        }
        if let Some(process) = self.process_mut(pid) {
            process.ended = process.ended.max(process.core.ended_epoch());
            let state = process.state(now);
            self.fact(&Fact::Handled(pid, state));
        }
    }

    /// Does a fault of the plan happen in passing, once in this many times while it storms?
    pub(super) fn chance_of(&mut self, fault: Fault, one_in: u64) -> bool {
        self.plan.has(fault) && !self.recovery.has_begun() && self.rng.one_in(one_in)
    }

    fn dies_midway(&mut self, pid: ProcessId) -> bool {
        if self.chance_of(Fault::CrashMidway, 400) {
            self.coverage.fault(Fault::CrashMidway);
            self.crash(pid);
            return true;
        }
        false
    }

    fn carry_out(&mut self, pid: ProcessId, now: Moment, action: Action) {
        match action {
            Action::Send { id, request, timeout } => {
                let Some(process) = self.process_mut(pid) else { return };
                process.waiting.insert(id, now);
                let due = self.machines[pid.slot].clock.when(now + timeout);
                let failure = baton_core::protocol::Failure::Unknown;
                self.queue.push(due, Event::Deliver(pid, Delivery::Failed(id, failure)));
                self.report_sent(pid, now, &request);
                self.send(pid, id, now, request);
            }
            Action::SetTimer { timer, at } => self.set_timer(pid, timer, at),
            Action::CancelTimer(timer) => {
                if let Some(process) = self.process_mut(pid) {
                    process.timers[timer as usize] = None;
                }
            }
            Action::StartTerm { epoch, .. } => self.start_term(pid, epoch),
            Action::StopTerm { epoch, reason, .. } => self.stop_term(pid, epoch, reason),
            Action::WatchLifeline { boot, address } => self.watch(pid, boot, &address),
            Action::UnwatchLifeline { boot } => self.unwatch(pid, boot),
            Action::Tell { to, hint } => self.send_to_node(pid, &to, &hint),
            // No node of this world coordinates partitions.
            Action::MembersRead(_) => {}
            Action::Prepare => self.coverage.situation("prepared-successor"),
            Action::Emit(event) => self.emitted(&event),
            Action::Halt => self.halted(pid),
        }
    }

    fn report_sent(&mut self, pid: ProcessId, local: Moment, request: &Request) {
        *self.stats.requests.entry(request.kind()).or_default() += 1;
        if !self.checked {
            return;
        }
        if let Request::Beat(beat) = request
            && let LeaseIntent::Acquire(Acquire { claim, .. }) = beat.lease
        {
            self.coverage.situation(match claim {
                Claim::Vacant => "claim-vacant",
                Claim::Expired => "claim-expired",
                Claim::Dead { .. } => "claim-dead",
            });
        }
        self.unsettle_claimant(pid, request);
        let Some(process) = self.process(pid) else { return };
        let (at, known_view) = (self.now, process.known_view());
        let since_reply = at.since(process.last_reply_at);
        self.fact(&Fact::Sent { pid, at, local, request, known_view, since_reply });
    }

    /// Now and then a node's standing changes just while its claim is under way.
    fn unsettle_claimant(&mut self, pid: ProcessId, request: &Request) {
        let fault = Fault::StandingChange;
        if request.kind() == "acquire" && self.chance_of(fault, 20) && self.toggle_standing(pid) {
            self.coverage.fault(fault);
        }
    }

    fn set_timer(&mut self, pid: ProcessId, timer: baton_core::timer::Timer, due: Moment) {
        let lag = if self.chance_of(Fault::SlowTimer, 50) {
            self.coverage.fault(Fault::SlowTimer);
            self.rng.span(std::time::Duration::ZERO, self.plan.settings.stop_grace)
        } else {
            self.span_ms(0, 1)
        };
        let at = self.machines[pid.slot].clock.when(due).max(self.now) + lag;
        if let Some(process) = self.process_mut(pid) {
            process.timers[timer as usize] = Some(due);
            self.queue.push(at, Event::Deliver(pid, Delivery::Timer(timer, due)));
        }
    }

    fn start_term(&mut self, pid: ProcessId, epoch: Epoch) {
        let node = self.machines[pid.slot].node.clone();
        let Some(process) = self.process_mut(pid) else { return };
        let (seen, eligible) = (process.shown, process.eligible);
        process.running = Some(epoch);
        process.working = Some(epoch);
        process.shown = seen.max(epoch);
        self.stats.term_begins(self.now, pid, epoch);
        self.fact(&Fact::TermStarted { pid, node: &node, epoch, seen, eligible });
        let fails = self.chance_of(Fault::StartFails, 6);
        let at = self.now + self.span_ms(0, 200);
        self.queue.push(at, Event::Deliver(pid, Delivery::Started(epoch, !fails)));
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Work(epoch)));
    }

    fn started(&mut self, pid: ProcessId, now: Moment, epoch: Epoch, well: bool) {
        let running = self.process(pid).and_then(|process| process.running);
        if running != Some(epoch) {
            return;
        }
        if well {
            self.handle(pid, now, Input::TermStarted { epoch });
            return;
        }
        self.coverage.fault(Fault::StartFails);
        self.plugins_failed(pid, now, epoch);
    }

    fn plugins_failed(&mut self, pid: ProcessId, now: Moment, epoch: Epoch) {
        self.handle(pid, now, Input::TermFailed { epoch });
        if let Some(process) = self.process(pid) {
            let running = process.running;
            self.fact(&Fact::PluginsFailed { pid, epoch, running });
        }
    }

    fn stop_term(&mut self, pid: ProcessId, epoch: Epoch, reason: DemotionReason) {
        let Some(process) = self.process_mut(pid) else { return };
        process.running = None;
        let cause = match reason {
            DemotionReason::Released(_) => GapCause::Handover,
            _ => GapCause::Unreachable,
        };
        self.stats.term_ends(self.now, pid, cause);
        let grace = self.plan.settings.stop_grace;
        let span = if self.chance_of(Fault::StopIgnored, 8) {
            self.coverage.fault(Fault::StopIgnored);
            self.rng.span(grace, 2 * self.plan.settings.lease_timeout)
        } else {
            self.rng.span(std::time::Duration::ZERO, grace / 2)
        };
        let at = self.now + span;
        self.queue.push(at, Event::Deliver(pid, Delivery::Stopped(epoch)));
    }

    fn stopped(&mut self, pid: ProcessId, now: Moment, epoch: Epoch) {
        let Some(process) = self.process_mut(pid) else { return };
        if process.working == Some(epoch) {
            process.working = None;
        }
        self.fact(&Fact::WorkStopped(pid, epoch));
        self.handle(pid, now, Input::TermStopped { epoch });
    }

    fn work(&mut self, pid: ProcessId, now: Moment, epoch: Epoch) {
        let Some(process) = self.process(pid) else { return };
        if process.running != Some(epoch) {
            return;
        }
        if process.core.may_start_work(now, epoch) {
            let window = process.core.window(now);
            self.fact(&Fact::WorkBegan { pid, epoch, local: now, window });
            if self.chance_of(Fault::WorkFails, 30) {
                self.coverage.fault(Fault::WorkFails);
                return self.plugins_failed(pid, now, epoch);
            }
        }
        let pace = self.plan.settings.heartbeat_interval;
        let at = self.now + self.rng.span(pace / 10, pace);
        self.queue.push(at, Event::Deliver(pid, Delivery::Work(epoch)));
    }

    fn task(&mut self, pid: ProcessId, now: Moment, epoch: Epoch, created: Moment) {
        let Some(process) = self.process_mut(pid) else { return };
        let known = process.core.known_epoch();
        let accepted = process.core.is_epoch_valid(now, epoch, created);
        // A question is not an input: deadlines are minded when the next one comes.
        let state = ProcessState { running: None, ..process.state(now) };
        self.fact(&Fact::TaskJudged { pid, local: now, epoch, created, accepted, known });
        self.fact(&Fact::Handled(pid, state));
    }

    fn emitted(&mut self, event: &CoreEvent) {
        match event {
            CoreEvent::LeaderFlapping { .. } => self.stats.flap_warnings += 1,
            CoreEvent::StoreWentBack { .. } => self.coverage.situation("store-went-back"),
            CoreEvent::BreakerOpen { .. } => self.coverage.situation("breaker-open"),
            CoreEvent::ContentionDetected { .. } => self.coverage.situation("contention"),
            CoreEvent::NodeIdTaken { .. } => self.coverage.situation("node-id-taken"),
            CoreEvent::NodeSuperseded { .. } => self.coverage.situation("node-superseded"),
            CoreEvent::CoordinatorEpochRenewed { .. } => self.coverage.situation("mandate-renewed"),
            CoreEvent::TermOverran { .. } => self.coverage.situation("term-overran"),
            CoreEvent::TransferRefused { .. } => self.coverage.situation("transfer-refused"),
            _ => {}
        }
    }
}
