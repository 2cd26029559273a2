//! Lifelines: what a successor sees of a leader's process, within what a network can show.

use std::sync::Arc;
use std::time::Duration;

use baton_core::LifelineReport;
use baton_core::ids::BootId;

use super::process::WatchedLifeline;
use super::{Delivery, Event, World};
use crate::fact::ProcessId;
use crate::plan::Fault;

impl World {
    /// A process begins to watch a lifeline.
    pub(super) fn watch(&mut self, pid: ProcessId, boot: BootId, address: &str) {
        let Some(process) = self.process_mut(pid) else { return };
        let slot = slot_at(address);
        process.watches.insert(boot, WatchedLifeline { slot, connected: false, was_reset: false });
        let at = self.now + self.span_ms(1, 3);
        self.queue.push(at, Event::Deliver(pid, Delivery::Dial(boot)));
    }

    /// A process watches a lifeline no longer.
    pub(super) fn unwatch(&mut self, pid: ProcessId, boot: BootId) {
        if let Some(process) = self.process_mut(pid) {
            process.watches.remove(&boot);
        }
    }

    fn watched(&mut self, pid: ProcessId, boot: BootId) -> Option<&mut WatchedLifeline> {
        self.process_mut(pid)?.watches.get_mut(&boot)
    }

    /// A process died: its lifelines close, and the processes that watch it dial again at once.
    pub(super) fn lifeline_broke(&mut self, boot: BootId) {
        for pid in self.processes() {
            if self.watched(pid, boot).is_some() {
                let at = self.now + self.span_ms(1, 3);
                self.queue.push(at, Event::Deliver(pid, Delivery::Dial(boot)));
            }
        }
    }

    /// A look at a lifeline.
    pub(super) fn dial(&mut self, pid: ProcessId, boot: BootId) {
        let Some(watched) = self.watched(pid, boot) else { return };
        let (slot, was_connected) = (watched.slot, watched.connected);
        if std::mem::take(&mut watched.was_reset) {
            // A process reads the end of its connection before it dials again, late or not.
            let (report, own_host) = (LifelineReport::Broken, false);
            let now = self.machines[pid.slot].clock.read(self.now);
            self.handle(pid, now, baton_core::Input::Lifeline { boot, report, own_host });
            if self.watched(pid, boot).is_none() {
                return;
            }
        }
        let (report, own_host) = self.see_lifeline(pid, boot, (slot, was_connected));
        let gone = self.processes().iter().all(|other| other.boot != boot);
        match report {
            LifelineReport::Refused if gone => self.coverage.fault(Fault::ProvedDeath),
            LifelineReport::OtherBoot(_) => self.coverage.fault(Fault::OtherBoot),
            _ => {}
        }
        if !(report.denies(boot) && gone) {
            let pace: Duration = self.plan.settings.heartbeat_interval / 2;
            let at = self.now + pace;
            self.queue.push(at, Event::Deliver(pid, Delivery::Dial(boot)));
        }
        let alive = report == LifelineReport::Alive;
        if let Some(watched) = self.watched(pid, boot) {
            watched.connected |= alive;
        }
        if !(alive && was_connected) {
            let now = self.machines[pid.slot].clock.read(self.now);
            self.handle(pid, now, baton_core::Input::Lifeline { boot, report, own_host });
        }
    }

    /// What is seen, and whether the address is the onlooker's own. A firewall does not touch a
    /// connection that stands.
    fn see_lifeline(
        &self,
        pid: ProcessId,
        boot: BootId,
        (slot, connected): (usize, bool),
    ) -> (LifelineReport, bool) {
        let occupant = self.machines[slot].process.as_ref();
        let report = match occupant {
            _ if !self.cuts.reach_each_other(pid.slot, slot) => LifelineReport::TimedOut,
            None => LifelineReport::Refused,
            _ if !connected && self.cuts.refuses(pid.slot, slot) => LifelineReport::Refused,
            Some(process) if process.paused => LifelineReport::TimedOut,
            Some(process) if process.boot == boot => LifelineReport::Alive,
            Some(process) => LifelineReport::OtherBoot(process.boot),
        };
        (report, pid.slot == slot)
    }

    /// Every connection to a live process's lifeline is reset, and the next dial refused.
    pub(super) fn reset_lifelines(&mut self, boot: BootId) {
        for pid in self.processes() {
            let Some(watched) = self.watched(pid, boot) else { continue };
            if std::mem::replace(&mut watched.connected, false) {
                watched.was_reset = true;
                self.queue.push(self.now, Event::Deliver(pid, Delivery::Dial(boot)));
            }
        }
    }

    /// A connection closes although the process at its end lives.
    pub(super) fn close_lifeline(&mut self) -> bool {
        let mut watchers = Vec::new();
        for pid in self.processes() {
            let watches = self.process(pid).into_iter().flat_map(|it| it.watches.keys());
            watchers.extend(watches.map(|boot| (pid, *boot)));
        }
        let lives = |boot: BootId| self.processes().iter().any(|pid| pid.boot == boot);
        let Some((pid, boot)) = watchers.into_iter().find(|(_, boot)| lives(*boot)) else {
            return false;
        };
        let report = Delivery::Lifeline(boot, LifelineReport::Closed);
        self.queue.push(self.now, Event::Deliver(pid, report));
        true
    }
}

/// The address of a slot's lifeline.
pub fn address_of(slot: usize) -> Arc<str> {
    Arc::from(format!("10.0.0.{slot}:7000"))
}

fn slot_at(address: &str) -> usize {
    let slot = address.strip_prefix("10.0.0.").and_then(|rest| rest.strip_suffix(":7000"));
    slot.and_then(|slot| slot.parse().ok()).expect("every lifeline has the address of its slot")
}
