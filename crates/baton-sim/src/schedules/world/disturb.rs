//! What else happens at times that are drawn: deploys, steps of wall clocks, outages of the store.

use std::time::Duration;

use super::term::Delivery;
use super::{Event, World};
use crate::schedules::fault::Fault;

impl World {
    pub(super) fn schedule_disturbances(&mut self) {
        let plan = &self.plan;
        let wanted = [
            (true, plan.edit_every, Event::Edit),
            (plan.has(Fault::Deploy), plan.deploy_every, Event::Deploy),
            (true, plan.step_every, Event::WallStep),
            (plan.has(Fault::SchedulerFails), plan.term, Event::SchedulerFails),
            (plan.has(Fault::StoreAway), plan.outage_every, Event::StoreGoes),
        ];
        for (is_wanted, every, event) in wanted {
            let first = self.about(every);
            if is_wanted {
                self.after(first, event);
            }
        }
    }

    /// The next version is installed: on one node after another, as they are restarted.
    pub(super) fn deploy(&mut self) {
        if self.is_calm {
            return;
        }
        let next = self.about(self.plan.deploy_every);
        self.after(next, Event::Deploy);
        self.newest_version = (self.newest_version + 1).min(self.plan.versions.len() - 1);
        let version = self.newest_version;
        let leading = self.leading();
        let led = leading.and_then(|epoch| self.terms.get(&epoch)).map(|term| term.node);
        for number in 0..self.nodes.len() {
            if self.nodes[number].version == version || self.rng.one_in(3) {
                continue;
            }
            if led != Some(number) {
                self.nodes[number].version = version;
            } else if let Some(epoch) = leading {
                self.count(Fault::Deploy);
                self.after(Duration::ZERO, Event::Deliver(epoch, Delivery::Declare(version)));
            }
        }
    }

    pub(super) fn wall_step(&mut self) {
        if self.is_calm {
            return;
        }
        let next = self.about(self.plan.step_every);
        self.after(next, Event::WallStep);
        let number = self.rng.below(self.nodes.len() as u64) as usize;
        let node = &mut self.nodes[number];
        let before = node.wall_error_ms;
        node.set_wall_error(&self.plan, &mut self.rng);
        let after = node.wall_error_ms;
        let fault = if after > before { Fault::WallAhead } else { Fault::WallBack };
        if !self.plan.has(fault) {
            self.nodes[number].wall_error_ms = before;
            return;
        }
        self.count(fault);
        self.line(|| format!("node {number}: the wall clock is wrong by {after} ms from now on"));
    }

    pub(super) fn store_goes(&mut self) {
        if self.is_calm {
            return;
        }
        self.count(Fault::StoreAway);
        self.store.is_away = true;
        self.line(|| "the store is away".to_owned());
        let (lasts, next) = (self.span_ms(500, 20_000), self.about(self.plan.outage_every));
        self.after(lasts, Event::StoreReturns);
        self.after(lasts + next, Event::StoreGoes);
    }
}
