//! Who leads, as the script has it: a term ends by a crash, a pause or a handover, and the next one
//! is granted, perhaps while requests of the old one are still on their way.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch};

use super::term::{Delivery, Term};
use super::{Event, World};
use crate::schedules::fact::Fact;
use crate::schedules::fault::Fault;

impl World {
    /// The next term is granted to one of the nodes.
    pub(super) fn grant(&mut self) {
        let epoch = Epoch(self.store.granted.0 + 1);
        let node = self.rng.below(self.nodes.len() as u64) as usize;
        let version = self.nodes[node].version;
        let earlier = self.terms.values().next_back().map(|term| self.nodes[term.node].version);
        if earlier.is_some_and(|earlier| earlier != version) {
            self.count(Fault::MixedVersions);
        }
        self.boots += 1;
        self.terms.insert(epoch, Term::new(epoch, node, BootId(self.boots)));
        self.store.grant(epoch);
        self.stats.terms += 1;
        self.line(|| format!("e{epoch} is granted to node {node}, version {version}"));
        self.fact(&Fact::Granted(epoch));
        let lasts = self.about(self.plan.term);
        self.after(lasts, Event::TermEnds(epoch));
        self.deliver(epoch, Delivery::Declare(version));
    }

    pub(super) fn term_ends(&mut self, epoch: Epoch) {
        let leads = self.leading() == Some(epoch);
        if self.is_calm || !leads {
            return;
        }
        let ways = [Fault::Crash, Fault::Pause, Fault::ShortPause, Fault::UnreportedEnd];
        let way = ways[self.rng.below(4) as usize];
        match way {
            Fault::Crash if self.plan.has(way) => self.crash(epoch),
            Fault::Pause | Fault::ShortPause if self.plan.has(way) => self.pause(epoch, way),
            _ => self.hand_over(epoch),
        }
    }

    fn crash(&mut self, epoch: Epoch) {
        self.count(Fault::Crash);
        self.line(|| format!("e{epoch} crashes"));
        self.kill_runs(epoch);
        self.retire(epoch);
        // At once if the death is proved, else when the lease has run out.
        let most = if self.rng.one_in(2) { 300 } else { 15_000 };
        let next = self.span_ms(1, most);
        self.after(next, Event::Grant);
    }

    /// The process stands still. Its guard and its runs do not.
    fn pause(&mut self, epoch: Epoch, way: Fault) {
        self.count(way);
        self.line(|| format!("e{epoch} is paused"));
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        term.is_asleep = true;
        if way == Fault::ShortPause {
            let wakes = self.span_ms(100, 8_000);
            let lasts = self.about(self.plan.term);
            self.after(wakes, Event::Resume(epoch));
            return self.after(wakes + lasts, Event::TermEnds(epoch));
        }
        let closes = self.span_ms(500, 12_000);
        let wakes = closes + self.span_ms(0, 15_000);
        let next = closes + self.span_ms(1, 4_000);
        self.after(closes, Event::WindowCloses(epoch));
        self.after(wakes, Event::Resume(epoch));
        self.after(next, Event::Grant);
        self.after(wakes + Duration::from_secs(10), Event::Retire(epoch));
    }

    pub(super) fn window_closes(&mut self, epoch: Epoch) {
        if let Some(term) = self.terms.get_mut(&epoch) {
            term.may_start = false;
        }
        self.line(|| format!("e{epoch} has no window any more"));
        self.kill_runs(epoch);
    }

    pub(super) fn resume(&mut self, epoch: Epoch) {
        self.line(|| format!("e{epoch} goes on"));
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        for delivery in term.wake() {
            self.deliver(epoch, delivery);
        }
    }

    /// What runs is told to stop, and nothing is started any more.
    fn hand_over(&mut self, epoch: Epoch) {
        let reports = !(self.plan.has(Fault::UnreportedEnd) && self.rng.one_in(2));
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        (term.may_start, term.reports) = (false, reports);
        let running: Vec<_> = term.runs.keys().cloned().collect();
        if !reports && !running.is_empty() {
            self.count(Fault::UnreportedEnd);
        }
        self.line(|| format!("e{epoch} is handed over"));
        for attempt in &running {
            self.stop_with_term(epoch, attempt);
        }
        self.deliver(epoch, Delivery::Stop);
        let grace = self.span_ms(1, 2_500);
        self.after(grace, Event::HandedOver(epoch));
    }

    pub(super) fn handed_over(&mut self, epoch: Epoch) {
        self.kill_runs(epoch);
        self.retire(epoch);
        let next = self.span_ms(1, 800);
        self.after(next, Event::Grant);
    }

    /// A scheduler fails, and another one of the same term follows. What ran has been stopped.
    pub(super) fn scheduler_fails(&mut self) {
        if self.is_calm {
            return;
        }
        let next = self.about(self.plan.term);
        self.after(next, Event::SchedulerFails);
        let Some(epoch) = self.leading() else { return };
        let Some(term) = self.terms.get_mut(&epoch).filter(|it| !it.is_asleep) else { return };
        term.restart();
        let version = self.nodes[term.node].version;
        self.count(Fault::SchedulerFails);
        self.line(|| format!("e{epoch} has another scheduler"));
        self.kill_runs(epoch);
        self.deliver(epoch, Delivery::Declare(version));
    }

    /// The process of a term ends. Its requests stay on their way.
    pub(super) fn retire(&mut self, epoch: Epoch) {
        if let Some(term) = self.terms.get_mut(&epoch) {
            (term.is_dead, term.may_start) = (true, false);
        }
    }
}
