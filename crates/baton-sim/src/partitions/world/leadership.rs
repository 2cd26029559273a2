//! Who leads, as the script has it: a term ends by a crash, a pause or a handover, and the next one
//! is granted, perhaps while requests of the old one are still on their way.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::partition::Coordinator;
use baton_core::partition::coordinator::TermOfMoves;

use super::term::{Delivery, Term};
use super::{Event, World};
use crate::partitions::fact::Fact;
use crate::partitions::fault::Fault;
use crate::scripted::FaultName;

impl World {
    /// The term that was granted last, if it goes on.
    pub(super) fn leading(&self) -> Option<Epoch> {
        let (epoch, term) = self.terms.last_key_value()?;
        (!term.is_dead && !term.is_replaced).then_some(*epoch)
    }

    /// The next term is granted to one of the machines.
    pub(super) fn grant(&mut self) {
        if self.leading().is_some() {
            return;
        }
        let leap = if std::mem::take(&mut self.lost_data) { Epoch::LEAP } else { 1 };
        let epoch = Epoch(self.store.granted.0 + leap);
        let machine = self.rng.below(self.machines.len() as u64) as usize;
        let now = self.machines[machine].clock.read(self.now);
        let term = TermOfMoves { epoch, lineage: self.store.lineage, lease: self.plan.lease };
        let coordinator = Coordinator::new(now, term, self.plan.settings);
        self.store.granted = epoch;
        self.terms.insert(epoch, Term::new(coordinator, machine));
        self.stats.terms += 1;
        self.line(|| format!("e{epoch} is granted on machine {machine}"));
        self.fact(&Fact::Granted(epoch));
        let lasts = self.about(self.plan.term);
        self.after(lasts, Event::TermEnds(epoch));
        self.deliver_to_term(epoch, Delivery::Lists);
        for boot in self.dead.clone() {
            self.deliver_to_term(epoch, Delivery::Died(boot));
        }
        self.look(epoch);
    }

    pub(super) fn term_ends(&mut self, epoch: Epoch) {
        if self.is_calm() || self.leading() != Some(epoch) {
            return;
        }
        let ways = [Fault::LeaderCrash, Fault::LeaderPause, Fault::HandOver];
        let way = ways[self.rng.below(3) as usize];
        if !self.draws(way) {
            let again = self.about(self.plan.term);
            return self.after(again, Event::TermEnds(epoch));
        }
        self.line(|| format!("e{epoch} ends: {}", way.name()));
        let wakes = self.rng.span(Duration::from_millis(50), self.plan.lease.ttl * 3);
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        term.is_replaced = true;
        match way {
            Fault::LeaderCrash => term.is_dead = true,
            Fault::LeaderPause => {
                term.is_asleep = true;
                self.after(wakes, Event::WakeTerm(epoch));
            }
            // Its requests stay on their way, and it goes on until it learns that it is over.
            _ => {}
        }
        let next = self.rng.span(Duration::from_millis(1), self.plan.lease.ttl);
        self.after(next, Event::Grant);
    }

    /// A term that found out that it is over is followed by another one, if it is the last.
    pub(super) fn replace_if_over(&mut self, epoch: Epoch) {
        let is_last = self.terms.last_key_value().is_some_and(|(last, _)| *last == epoch);
        if let Some(term) = self.terms.get_mut(&epoch).filter(|it| is_last && !it.is_replaced) {
            term.is_replaced = true;
            self.after(Duration::from_millis(50), Event::Grant);
        }
    }
}
