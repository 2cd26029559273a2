//! Lifelines: what a successor sees of a coordinator's process, within what a network can show.

use std::time::Duration;

use baton_core::LifelineReport;
use baton_core::ids::BootId;

use super::{Delivery, Event, Spans as _, World};
use crate::fact::Who;
use crate::plan::Fault;

impl World {
    /// A process begins to watch a lifeline, or stops.
    pub(super) fn watch(&mut self, who: Who, boot: Option<BootId>) {
        let Some(process) = self.process_mut(who) else { return };
        process.watches = boot;
        if let Some(boot) = boot {
            let at = self.now + self.rng.span_ms(1, 3);
            self.queue.push(at, Event::Deliver(who, Delivery::Dial(boot)));
        }
    }

    /// A process died: its lifelines close, and whoever watches dials again at once.
    pub(super) fn lifeline_broke(&mut self, boot: BootId) {
        for who in self.everyone() {
            if self.process(who).is_some_and(|process| process.watches == Some(boot)) {
                let at = self.now + self.rng.span_ms(1, 3);
                self.queue.push(at, Event::Deliver(who, Delivery::Dial(boot)));
            }
        }
    }

    /// A look at a lifeline.
    pub(super) fn dial(&mut self, who: Who, boot: BootId) {
        if self.process(who).is_none_or(|process| process.watches != Some(boot)) {
            return;
        }
        let report = self.see_lifeline(who, boot);
        match report {
            LifelineReport::Refused => self.coverage.fault(Fault::ProvedDeath),
            LifelineReport::OtherBoot(_) => self.coverage.fault(Fault::OtherBoot),
            _ => {}
        }
        if !report.proves_death_of(boot) {
            let pace: Duration = self.plan.settings.heartbeat_interval / 2;
            let at = self.now + pace;
            self.queue.push(at, Event::Deliver(who, Delivery::Dial(boot)));
        }
        if report != LifelineReport::Alive {
            let now = self.slots[who.slot].clock.read(self.now);
            self.handle(who, now, baton_core::Input::Lifeline { boot, report });
        }
    }

    fn see_lifeline(&self, who: Who, boot: BootId) -> LifelineReport {
        // A boot's address is its slot's; slots of boots that are gone are found by the lease.
        let alive = self.everyone().into_iter().find(|other| other.boot == boot);
        let address = alive.map(|other| other.slot).or_else(|| self.address_of(boot));
        let Some(slot) = address else { return LifelineReport::Refused };
        let occupant = self.slots[slot].process.as_ref();
        match occupant {
            _ if !self.cuts.joined(who.slot, slot) => LifelineReport::TimedOut,
            None => LifelineReport::Refused,
            Some(process) if process.paused => LifelineReport::TimedOut,
            Some(process) if process.boot == boot => LifelineReport::Alive,
            Some(process) => LifelineReport::OtherBoot(process.boot),
        }
    }

    fn address_of(&self, boot: BootId) -> Option<usize> {
        let lease = self.store.lease(self.now)?;
        let holder = lease.holder.filter(|holder| holder.boot == boot)?;
        let text = holder.lifeline?;
        text.strip_prefix("10.0.0.")?.strip_suffix(":7000")?.parse().ok()
    }

    /// A connection closes although the process at its end lives.
    pub(super) fn close_lifeline(&mut self) -> bool {
        let watches = |who: &Who| self.process(*who).and_then(|process| process.watches);
        let watchers: Vec<(Who, BootId)> =
            self.everyone().into_iter().filter_map(|who| Some((who, watches(&who)?))).collect();
        let lives = |boot: BootId| self.everyone().iter().any(|who| who.boot == boot);
        let Some((who, boot)) = watchers.into_iter().find(|(_, boot)| lives(*boot)) else {
            return false;
        };
        let report = Delivery::Lifeline(boot, LifelineReport::Closed);
        self.queue.push(self.now, Event::Deliver(who, report));
        true
    }
}
