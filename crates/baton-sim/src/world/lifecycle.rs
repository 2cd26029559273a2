//! Processes start, die, pause, go on and leave.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::protocol::NodeProfile;
use baton_core::{Core, Identity};

use super::lifeline::address_of;
use super::{Delivery, Event, Machine, Process, World, drift};
use crate::clock::SimClock;
use crate::fact::ProcessId;
use crate::outcome::{FaultKind, GapCause};
use crate::plan::Fault;

impl World {
    /// A new machine. A twin goes by the node id of another one.
    pub(super) fn add_machine(&mut self, like: usize, twin: bool) {
        let offset = self.rng.span(Duration::ZERO, Duration::from_secs(10_000_000));
        let clock = SimClock::new(offset, drift(&mut self.rng, self.plan.drift_ppm));
        let node = match self.machines.get(like) {
            Some(slot) => slot.node.clone(),
            None => self.fresh_name(like),
        };
        let eligible = !self.plan.ineligible.contains(&like);
        self.machines.push(Machine { node, clock, process: None, twin, eligible });
    }

    fn fresh_name(&mut self, slot: usize) -> NodeId {
        // Names in another order than slots, so that the policies have something to choose.
        let order = self.rng.below(900) + 100;
        NodeId::new(&format!("n{order}-{slot}")).expect("letters, digits and a dash")
    }

    /// A process starts in a slot, unless one runs there.
    pub(super) fn boot(&mut self, slot: usize) {
        if self.machines[slot].process.is_some() {
            return;
        }
        let boot = self.next_boot();
        let machine = &self.machines[slot];
        let profile = NodeProfile {
            priority: (slot % 3) as i32,
            lifeline: self.plan.lifeline.then(|| address_of(slot)),
            version: "sim".to_owned(),
            ..NodeProfile::default()
        };
        let me = Identity { id: machine.node.clone(), boot, profile: Arc::new(profile) };
        let settings = self.plan.settings.clone().tune(|it| it.eligible = machine.eligible);
        let seed = self.rng.bits();
        let core = Core::new(me, Arc::new(settings), seed).expect("a plan's settings are checked");
        self.machines[slot].process = Some(Process::new(boot, core, self.now));
        self.trace.line(self.now, || format!("node {slot} boots as {boot:?}"));
        self.queue.push(self.now, Event::Deliver(ProcessId { slot, boot }, Delivery::Start));
    }

    /// A process dies. Its slot may get another one later.
    pub(super) fn crash(&mut self, pid: ProcessId) {
        if self.process(pid).is_none() {
            return;
        }
        self.trace.line(self.now, || format!("node {} dies", pid.slot));
        self.stats.fault(FaultKind::Killed, Some(pid.slot), self.now, self.now);
        let cause = if self.plan.lifeline { GapCause::CrashProved } else { GapCause::CrashSilent };
        self.gone(pid, cause);
        let lease = self.plan.settings.lease_timeout;
        if self.plan.has(Fault::Restart) {
            self.coverage.fault(Fault::Restart);
        } else if !self.machines[pid.slot].twin {
            let name = self.fresh_name(pid.slot);
            self.machines[pid.slot].node = name;
        }
        self.restart_after(pid.slot, lease / 200, 3 * lease);
    }

    /// A process has left, or must not go on.
    pub(super) fn halted(&mut self, pid: ProcessId) {
        self.trace.line(self.now, || format!("node {} halts", pid.slot));
        self.gone(pid, GapCause::Handover);
        let lease = self.plan.settings.lease_timeout;
        self.restart_after(pid.slot, lease / 4, 2 * lease);
    }

    fn gone(&mut self, pid: ProcessId, cause: GapCause) {
        self.stats.term_ends(self.now, pid, cause);
        self.machines[pid.slot].process = None;
        self.lifeline_broke(pid.boot);
    }

    fn restart_after(&mut self, slot: usize, least: Duration, most: Duration) {
        let stays_away = self.recovery.is_final() && !self.succession.restarts();
        if self.machines[slot].twin || stays_away {
            return;
        }
        let span = match self.restart {
            Some(span) => span,
            None if self.recovery.has_begun() => least,
            None => self.rng.span(least, most),
        };
        self.queue.push(self.now + span, Event::Boot(slot));
    }

    /// A process stops for a while, its clock does not.
    pub(super) fn pause(&mut self, pid: ProcessId, span: Duration) {
        let local = self.machines[pid.slot].clock.read(self.now);
        let Some(process) = self.process_mut(pid) else { return };
        process.paused = true;
        process.paused_with = process.core.window(local).map(|(_, window)| window);
        self.trace.line(self.now, || format!("node {} pauses for {span:?}", pid.slot));
        self.stats.fault(FaultKind::Pause, Some(pid.slot), self.now, self.now + span);
        self.queue.push(self.now + span, Event::Resume(pid));
    }

    /// A virtual machine stops for a while, its clock with it.
    pub(super) fn freeze(&mut self, pid: ProcessId, span: Duration) {
        self.pause(pid, span);
        let since = self.now;
        if let Some(process) = self.process_mut(pid) {
            process.frozen_since = Some(since);
        }
    }

    /// A paused process goes on and finds, in no particular order, what came in the meantime.
    pub(super) fn resume(&mut self, pid: ProcessId) {
        let Some(process) = self.process_mut(pid) else { return };
        process.paused = false;
        let window = process.paused_with.take();
        let closed = window.map(|window| self.machines[pid.slot].clock.when(window.hard));
        if let Some(at) = closed.filter(|at| *at < self.now) {
            self.stats.term_ends(at, pid, GapCause::Pause);
        }
        let Some(process) = self.process_mut(pid) else { return };
        let mut inbox = std::mem::take(&mut process.inbox);
        if let Some(since) = process.frozen_since.take() {
            self.machines[pid.slot].clock.stood_still(since, self.now);
            self.deliver(pid, Delivery::ClockLeapt(self.now.since(since)));
        }
        while !inbox.is_empty() {
            let next = self.rng.below(inbox.len() as u64) as usize;
            let at = self.now + self.span_ms(0, 2);
            self.queue.push(at, Event::Deliver(pid, inbox.swap_remove(next)));
        }
    }
}
