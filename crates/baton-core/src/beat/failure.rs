//! The beat was not answered: the breaker, the backoff, and what stays open.

use std::time::Duration;

use crate::core::Core;
use crate::election::leading::Term;
use crate::event::Event;
use crate::guard::breaker::BreakerState;
use crate::planted::planted;
use crate::protocol::{Failure, RequestId, Version};
use crate::time::{Moment, whole_ms};

impl Core {
    /// The beat was not answered.
    pub(crate) fn beat_failed(&mut self, now: Moment, id: RequestId, failure: Failure) {
        let Some(beat) = self.in_flight.beat.take_if(|beat| beat.id == id) else {
            return;
        };
        self.in_flight.read_cadence.written = None;
        match (failure, beat.nonce) {
            (Failure::Unknown, Some(nonce)) if planted!(TimeoutTakenAsSuccess) && beat.renews => {
                let epoch = self.term().map(Term::epoch).unwrap_or_default();
                let version = self.term().map_or(Version { epoch, nonce }, |term| term.version);
                self.extend_term(now, version, Some(beat.sent));
            }
            (Failure::NotDone | Failure::Rejected, Some(nonce)) => self.attempts.forget(nonce),
            _ => {}
        }
        if failure == Failure::Rejected {
            self.emit(Event::StoreRejected);
        }
        if self.in_flight.breaker.failed(now) == Some(BreakerState::Open) {
            let failures = self.in_flight.breaker.status().failure_count;
            self.emit(Event::BreakerOpen { failures });
        }
        if let Some(term) = self.term().filter(|term| term.is_renewing()) {
            let left_ms = whole_ms(term.window.soft.since(now));
            self.emit(Event::StoreUnreachable { epoch: term.epoch(), left_ms });
        }
        self.back_off(now);
        self.send_release();
    }

    /// Waits a little longer after each failure; a holder, whose window runs, not for long.
    fn back_off(&mut self, now: Moment) {
        let interval = self.settings.heartbeat_interval;
        let holds = self.term().is_some();
        let longest = if holds { interval / 4 } else { interval };
        let step: Duration = (interval / 20) * (1 << self.in_flight.failures.min(5));
        let wait = step.min(longest);
        self.in_flight.failures = self.in_flight.failures.saturating_add(1);
        let at = now + self.rng.span(wait / 2, wait);
        let opens = self.in_flight.breaker.opens_at().filter(|_| !holds);
        self.in_flight.hold_until = opens.map_or(at, |opens| opens.max(at));
        self.plan_beat(self.in_flight.hold_until);
    }
}
