//! Scheduled faults: one at a time, at random intervals, from those the plan has.

use std::time::Duration;

use baton_core::Command;
use baton_core::ids::Epoch;
use baton_core::protocol::{Hint, LeaseSnapshot};

use super::net::NetworkCut;
use super::store::{Rollback, StoreState};
use super::{Delivery, Event, World, drift};
use crate::fact::ProcessId;
use crate::outcome::FaultKind;
use crate::plan::Fault;

/// How long a listener may take to be connected again.
const LISTENS_AGAIN_WITHIN: Duration = Duration::from_secs(2);

impl World {
    /// The next scheduled fault strikes.
    pub(super) fn chaos(&mut self) {
        if self.recovery.has_begun() {
            return;
        }
        let every = self.plan.fault_every;
        let at = self.now + self.rng.span(every / 4, every * 2);
        self.queue.push(at, Event::Chaos);
        self.send_task();
        let plan = self.plan.clone();
        let ours = || Fault::timed().filter(|fault| plan.has(*fault));
        let pick = self.rng.below(ours().count() as u64) as usize;
        if let Some(fault) = ours().nth(pick).filter(|fault| self.inject(*fault)) {
            self.trace.line(self.now, || format!("fault {}", fault.name()));
            self.coverage.fault(fault);
        }
    }

    /// Makes a fault happen; `false` if it could not.
    fn inject(&mut self, fault: Fault) -> bool {
        let lease = self.plan.settings.lease_timeout;
        match fault {
            Fault::StoreFailover => self.fail_store_over(),
            Fault::StoreRestart => self.take_store_away(lease / 20, lease / 4),
            Fault::StoreOutage => self.take_store_away(lease, 3 * lease),
            Fault::FalseHint => self.false_hint(),
            Fault::Pause | Fault::Suspend => self.pause_process(lease / 4, 2 * lease, Self::pause),
            Fault::Freeze => self.pause_process(lease / 4, 2 * lease, Self::freeze),
            Fault::Crash => self.target().is_some_and(|pid| {
                self.crash(pid);
                true
            }),
            Fault::Twin => self.start_twin(),
            Fault::DriftWithin => self.change_rates(self.plan.drift_ppm.max(1)),
            Fault::DriftBeyond => self.change_rates(150_000),
            Fault::StoreClockStep => {
                self.store.clock.step_forward(self.now, lease);
                true
            }
            Fault::WallStep => {
                let year_ms = 365 * 24 * 3_600 * 1_000;
                self.store.wall_offset_ms = 1_700_000_000_000 + self.rng.below(2 * year_ms);
                true
            }
            Fault::CutToStore
            | Fault::CutFromStore
            | Fault::CutOffStore
            | Fault::CutBetweenNodes
            | Fault::UnheardNode => self.cut(fault),
            Fault::ClosedLifeline => self.close_lifeline(),
            Fault::FirewallRefuses | Fault::FirewallResets => self.raise_firewall(fault),
            Fault::Leave => self.command_process(|_| Some(Command::Leave)),
            Fault::Resign => self.command_process(|world| {
                let force = world.rng.one_in(2);
                Some(match force {
                    true => Command::EnsureCoordinator { force, desired: None },
                    false => Command::Resign,
                })
            }),
            Fault::Transfer => self.command_process(|world| {
                let to = world.any_process()?;
                Some(Command::Transfer { to: world.machines[to.slot].node.clone() })
            }),
            Fault::TransferToDead => self.transfer_to_dead(),
            Fault::StandingChange => self.change_standing(),
            Fault::HintFlood => self.flood_for_a_while(),
            _ => false,
        }
    }

    /// The leader half of the time, any process otherwise.
    fn target(&mut self) -> Option<ProcessId> {
        let leader = self.leader().filter(|_| self.rng.one_in(2));
        leader.or_else(|| self.any_process())
    }

    pub(super) fn any_process(&mut self) -> Option<ProcessId> {
        let all = self.processes();
        (!all.is_empty()).then(|| all[self.rng.below(all.len() as u64) as usize])
    }

    fn fail_store_over(&mut self) -> bool {
        let most = self.plan.settings.lease_timeout / 2;
        let back = match self.rng.below(3) {
            0 => Rollback::ToVacant,
            1 => Rollback::ToLastTerm,
            _ => Rollback::By(self.rng.span(Duration::ZERO, most)),
        };
        self.roll_back(back)
    }

    /// A grant was made: now and then the store loses it soon after, while it is trusted.
    pub(super) fn threaten_grant(&mut self) {
        if self.chance_of(Fault::StoreFailover, 20) {
            let soon = self.plan.settings.heartbeat_interval;
            let at = self.now + self.rng.span(Duration::ZERO, soon);
            self.queue.push(at, Event::LoseGrant);
        }
    }

    /// The store goes back to before its last grant.
    pub(super) fn lose_grant(&mut self) {
        let back = if self.rng.one_in(2) { Rollback::ToVacant } else { Rollback::ToLastTerm };
        if !self.recovery.has_begun() && self.roll_back(back) {
            self.trace.line(self.now, || "fault store-failover".to_owned());
            self.coverage.fault(Fault::StoreFailover);
        }
    }

    fn roll_back(&mut self, back: Rollback) -> bool {
        let Some(change) = self.store.fail_over(self.now, back) else { return false };
        let no_process = ProcessId { slot: usize::MAX, boot: baton_core::ids::BootId(0) };
        self.lease_changed(no_process, baton_core::time::Moment::default(), &change);
        if self.plan.has(Fault::FalseHint) {
            self.hint_of_the_undone(change.after.as_ref());
        }
        true
    }

    /// Hints of what is now undone may still be on their way, to any process.
    fn hint_of_the_undone(&mut self, lease: Option<&LeaseSnapshot>) {
        let Some(version) = lease.map(|lease| lease.version) else { return };
        let lease = self.plan.settings.lease_timeout;
        for pid in self.processes() {
            let successor = Some(self.machines[pid.slot].node.clone());
            for _ in 0..3 {
                let at = self.now + self.rng.span(Duration::ZERO, lease);
                let hint = Hint::Released { version, successor: successor.clone() };
                self.queue.push(at, Event::Deliver(pid, Delivery::Hint(hint)));
            }
        }
    }

    pub(super) fn take_store_away(&mut self, least: Duration, most: Duration) -> bool {
        if self.store.state != StoreState::Up {
            return false;
        }
        self.store.state =
            if self.rng.one_in(2) { StoreState::Refusing } else { StoreState::Silent };
        let at = self.now + self.rng.span(least, most);
        self.stats.fault(FaultKind::StoreAway, None, self.now, at);
        self.queue.push(at, Event::StoreBack);
        true
    }

    /// The store is back.
    pub(super) fn store_back(&mut self) {
        self.store.state = StoreState::Up;
        self.store.restart(self.now, self.plan.expiry);
        if !self.plan.push {
            return;
        }
        // Every process that listens connects again, and looks for what it has missed.
        for pid in self.processes() {
            let at = self.now + self.rng.span(Duration::ZERO, LISTENS_AGAIN_WITHIN);
            self.queue.push(at, Event::Deliver(pid, Delivery::Hint(Hint::Look)));
        }
    }

    fn false_hint(&mut self) -> bool {
        let Some(pid) = self.any_process() else { return false };
        let lease = self.store.lease(self.now);
        let hint = match lease {
            Some(lease) if self.rng.one_in(2) => {
                let successor = Some(self.machines[pid.slot].node.clone());
                Hint::Released { version: lease.version, successor }
            }
            _ => Hint::Look,
        };
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Hint(hint)));
        true
    }

    fn pause_process(
        &mut self,
        least: Duration,
        most: Duration,
        pause: impl Fn(&mut Self, ProcessId, Duration),
    ) -> bool {
        let Some(pid) = self.target() else { return false };
        if self.process(pid).is_none_or(|process| process.paused) {
            return false;
        }
        let span = self.rng.span(least, most);
        pause(self, pid, span);
        true
    }

    fn start_twin(&mut self) -> bool {
        let Some(pid) = self.any_process() else { return false };
        if self.machines.len() > 2 * self.plan.nodes {
            return false;
        }
        let like = pid.slot;
        self.add_machine(like, true);
        let slot = self.machines.len() - 1;
        self.machines[slot].eligible = self.machines[like].eligible;
        self.queue.push(self.now, Event::Boot(slot));
        true
    }

    fn change_rates(&mut self, bound_ppm: i64) -> bool {
        let at = self.now;
        for slot in &mut self.machines {
            slot.clock.set_rate(at, drift(&mut self.rng, bound_ppm));
        }
        let ppm = drift(&mut self.rng, bound_ppm);
        self.store.clock.set_rate(at, ppm);
        true
    }

    fn cut(&mut self, fault: Fault) -> bool {
        let Some(pid) = self.target() else { return false };
        let cuts: &[NetworkCut] = match fault {
            Fault::CutToStore => &[NetworkCut::ToStore],
            Fault::CutFromStore => &[NetworkCut::FromStore],
            Fault::CutOffStore => &[NetworkCut::ToStore, NetworkCut::FromStore],
            Fault::UnheardNode => &[NetworkCut::Unheard],
            _ => &[NetworkCut::Nodes],
        };
        self.cuts.add(pid.slot, cuts);
        let lease = self.plan.settings.lease_timeout;
        let at = self.now + self.rng.span(lease / 10, 3 * lease);
        self.stats.fault(FaultKind::Cut, Some(pid.slot), self.now, at);
        self.queue.push(at, Event::Mend(pid.slot));
        true
    }

    fn raise_firewall(&mut self, fault: Fault) -> bool {
        let Some(pid) = self.target().filter(|_| self.plan.lifeline) else { return false };
        self.cuts.add(pid.slot, &[NetworkCut::Dials]);
        if fault == Fault::FirewallResets {
            self.reset_lifelines(pid.boot);
        }
        let lease = self.plan.settings.lease_timeout;
        let at = self.now + self.rng.span(lease / 10, 3 * lease);
        self.queue.push(at, Event::Mend(pid.slot));
        true
    }

    fn command_process(&mut self, command: impl FnOnce(&mut Self) -> Option<Command>) -> bool {
        let Some(pid) = self.target() else { return false };
        let Some(command) = command(self) else { return false };
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Command(command)));
        true
    }

    fn transfer_to_dead(&mut self) -> bool {
        let Some(leader) = self.leader() else { return false };
        let Some(to) = self.any_process().filter(|to| to.slot != leader.slot) else { return false };
        let node = self.machines[to.slot].node.clone();
        self.crash(to);
        let command = Command::Transfer { to: node };
        self.queue.push(self.now, Event::Deliver(leader, Delivery::Command(command)));
        true
    }

    fn change_standing(&mut self) -> bool {
        self.target().is_some_and(|pid| self.toggle_standing(pid))
    }

    /// A node may not lead any more, or may again.
    pub(super) fn toggle_standing(&mut self, pid: ProcessId) -> bool {
        let machine = &mut self.machines[pid.slot];
        if self.plan.ineligible.contains(&pid.slot) || machine.twin {
            return false;
        }
        machine.eligible = !machine.eligible;
        let command = Command::SetEligible(machine.eligible);
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Command(command)));
        true
    }

    /// A task of a recent epoch reaches some node.
    fn send_task(&mut self) {
        let Some(pid) = self.any_process() else { return };
        let Some(process) = self.process(pid) else { return };
        let known = process.core.known_epoch().0;
        let local = self.machines[pid.slot].clock.read(self.now);
        let epoch = Epoch((known + 1).saturating_sub(self.rng.below(4)));
        let epoch = if self.rng.one_in(8) { epoch } else { epoch.min(Epoch(known)) };
        let created = local - self.span_ms(0, 8_000);
        self.queue.push(self.now, Event::Deliver(pid, Delivery::Task(epoch, created)));
    }
}
