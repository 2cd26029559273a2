//! The course of a run: a storm of faults, then calm, in which the cluster must recover (L1).
//! A flood of forged hints goes on in the calm: it must not put anything off.
//!
//! ```text
//!   0 ├─── storm ───┤ calm ├── settle ──┤ a leader? ├─ kill it ─┤ another? ├─ succession ─┤ end
//! ```

use std::time::Duration;

use super::store::StoreState;
use super::{Event, World, drift};
use crate::clock::TrueTime;
use crate::fact::ProcessId;
use crate::outcome::GapCause;
use crate::plan::Fault;

/// How far the calm is.
#[derive(Default)]
pub struct Recovery {
    began: Option<TrueTime>,
    killed: Option<TrueTime>,
}

impl Recovery {
    /// Have faults stopped?
    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Was the last leader killed already?
    pub fn is_final(&self) -> bool {
        self.killed.is_some()
    }
}

/// What must have happened by now.
#[derive(Clone, Copy)]
pub enum Deadline {
    Recovered,
    /// There is another one after the last kill.
    TakenOver,
}

impl World {
    pub(super) fn schedule_course(&mut self) {
        let plan = self.plan.clone();
        let start = TrueTime::default();
        let first = start + self.rng.span(Duration::ZERO, 2 * plan.settings.lease_timeout);
        if !plan.faults.is_empty() {
            self.queue.push(first, Event::Chaos);
        }
        let calm = start + plan.stormy;
        let settled = calm + self.settling();
        let killed = settled + Duration::from_micros(1);
        let last = killed + plan.recovery_bound();
        self.queue.push(calm, Event::FaultsStop);
        self.queue.push(settled, Event::Deadline(Deadline::Recovered));
        self.queue.push(killed, Event::LastKill);
        self.queue.push(last, Event::Deadline(Deadline::TakenOver));
        self.queue.push(last + plan.settings.lease_timeout, Event::Succession);
    }

    /// The time that restarts, failed starts and id disputes of the storm may reach into the calm.
    pub(super) fn settling(&self) -> Duration {
        let s = &self.plan.settings;
        let id_dispute = 3 * (s.heartbeat_interval + s.heartbeat_jitter) + s.request_timeout;
        let cold = s.cold_start_observation_window + s.cold_start_preparation_delay;
        let stragglers = 3 * s.lease_timeout;
        id_dispute + cold + stragglers + self.plan.latency.tail + self.plan.recovery_bound()
    }

    pub(super) fn stop_faults(&mut self) {
        self.trace.line(self.now, || "calm".to_owned());
        self.recovery.began = Some(self.now);
        if self.store.state != StoreState::Up {
            self.store_back();
        }
        for slot in 0..self.machines.len() {
            self.cuts.mend(slot);
            let ppm = drift(&mut self.rng, self.plan.drift_ppm);
            self.machines[slot].clock.set_rate(self.now, ppm);
            if self.machines[slot].twin {
                self.remove_twin(slot);
            } else {
                self.machines[slot].eligible = !self.plan.ineligible.contains(&slot);
            }
        }
        let ppm = drift(&mut self.rng, self.plan.drift_ppm);
        self.store.clock.set_rate(self.now, ppm);
        for pid in self.processes() {
            if self.process(pid).is_some_and(|process| process.paused) {
                self.resume(pid);
            }
            self.restore_standing(pid);
        }
        for slot in 0..self.plan.nodes {
            self.queue.push(self.now, Event::Boot(slot));
        }
        if self.plan.has(Fault::HintFlood) {
            self.flood_to_the_end();
        }
    }

    fn remove_twin(&mut self, slot: usize) {
        let boot = self.machines[slot].process.as_ref().map(|process| process.boot);
        if let Some(boot) = boot {
            self.crash(ProcessId { slot, boot });
        }
    }

    fn restore_standing(&mut self, pid: ProcessId) {
        let eligible = self.machines[pid.slot].eligible;
        let command = baton_core::Command::SetEligible(eligible);
        let at = self.now + self.rng.span(Duration::ZERO, self.plan.settings.heartbeat_interval);
        self.queue.push(at, Event::Deliver(pid, super::Delivery::Command(command)));
    }

    pub(super) fn deadline(&mut self, deadline: Deadline) {
        match deadline {
            Deadline::Recovered if !self.is_led() => {
                let message = format!("no leader {:?} after faults stopped", self.settling());
                self.violate("L1", "recovers", message);
            }
            Deadline::TakenOver if self.recovery.killed.is_some_and(|at| !self.led_since(at)) => {
                let bound = self.plan.recovery_bound();
                let message = format!("no leader {bound:?} after the last one died");
                self.violate("L1", "recovers", message);
            }
            Deadline::Recovered => {}
            Deadline::TakenOver => self.check_agreement(),
        }
    }

    /// Is there a leader, or is one being handed over to?
    fn is_led(&self) -> bool {
        let soon = self.plan.recovery_bound();
        self.stats.terms.iter().rev().take(8).any(|span| match span.until {
            None => true,
            Some((at, cause)) => cause == GapCause::Handover && self.now.since(at) < soon,
        })
    }

    pub(super) fn led_since(&self, at: TrueTime) -> bool {
        self.stats.terms.iter().rev().take(8).any(|span| span.from > at)
    }

    /// Every node must know who leads by now.
    fn check_agreement(&mut self) {
        let Some(leader) = self.leader() else { return };
        let news = self.plan.settings.heartbeat_interval + self.plan.settings.heartbeat_jitter;
        let began = self.stats.terms.last().map_or(self.now, |span| span.from);
        if self.now.since(began) < 2 * news {
            return;
        }
        let node = self.machines[leader.slot].node.clone();
        for pid in self.processes() {
            let local = self.machines[pid.slot].clock.read(self.now);
            let known = self.process(pid).and_then(|process| process.core.leader(local));
            if known.is_some_and(|known| *known != node) {
                let message = format!("node {} takes {known:?} for the leader", pid.slot);
                self.violate("L1", "agrees", message);
                return;
            }
        }
    }

    /// The leader dies once more, with nothing else going wrong: the failover is timed.
    pub(super) fn last_kill(&mut self) {
        let candidates =
            self.machines.iter().filter(|machine| machine.eligible && !machine.twin).count();
        if let Some(leader) = self.leader().filter(|_| candidates > 1) {
            self.recovery.killed = Some(self.now);
            self.crash(leader);
        }
    }
}
