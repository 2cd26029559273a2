//! Sending: when the next beat is due, and what it says.

use std::time::Duration;

use super::{BeatUnderWay, Bid, EarlyBeat};
use crate::action::Action;
use crate::core::Core;
use crate::election::leading::Term;
use crate::event::Event;
use crate::guard::breaker::BreakerState;
use crate::protocol::{
    Acquire, BeatRequest, Claim, LeaseIntent, NodeRecord, Recording, Renew, Request, RequestId,
    Version,
};
use crate::time::Moment;
use crate::timer::Timer;

impl Core {
    /// Sends a request under a new id.
    pub(crate) fn send(&mut self, request: Request) -> RequestId {
        self.in_flight.requests += 1;
        let id = RequestId(self.in_flight.requests);
        let timeout = self.settings.request_timeout;
        self.out.push(Action::Send { id, request, timeout });
        id
    }

    /// The beat's timer fell due.
    pub(crate) fn beat_due(&mut self, now: Moment) {
        if self.in_flight.beat.is_none() {
            self.send_beat(now, None);
        }
    }

    /// Beats together with another namespace of this process, if the jitter or a tenth of the
    /// interval allows it to be early: once aligned, all of them share every round trip.
    pub(crate) fn invited(&mut self, now: Moment) {
        let interval = self.settings.heartbeat_interval;
        let early = self.settings.heartbeat_jitter.max(interval / 10);
        let Some(sent) = self.in_flight.last_sent else { return };
        let allowed = (sent + interval.saturating_sub(early)).max(self.in_flight.hold_until);
        if now >= allowed && self.timers[Timer::Beat as usize].is_some() {
            self.in_flight.regular = self.in_flight.regular.min(now);
            self.beat_due(now);
        }
    }

    /// Beats sooner than planned, though never in a tight loop.
    pub(crate) fn beat_soon(&mut self, now: Moment) {
        if let Some(at) = self.soonest(now, EarlyBeat::Beat) {
            self.in_flight.regular = self.in_flight.regular.min(at);
            if at < self.in_flight.due || self.in_flight.due < now {
                self.plan_beat(at);
            }
        }
    }

    /// Looks sooner than planned because of a hint, from this moment on, though never in a tight
    /// loop, nor more often than hints may ask for. A beat that is due already shows as much.
    pub(crate) fn look_soon(&mut self, now: Moment, from: Moment) {
        let at = self.soonest(from, EarlyBeat::Look).map(|at| self.in_flight.hints.looks.next(at));
        if let Some(at) = at.filter(|at| *at < self.in_flight.due && now < self.in_flight.due) {
            self.in_flight.hints.looks.spend(at);
            self.plan_beat(at);
        }
    }

    /// Looks again as soon as the beat under way has ended, unless that one claims already.
    pub(crate) fn look_at_once(&mut self) {
        if self.in_flight.beat.as_ref().is_some_and(|beat| !beat.claims()) {
            self.in_flight.follow_up = self.in_flight.follow_up.max(Some(EarlyBeat::AtOnce));
        }
    }

    /// The first moment for another beat; `None` while one is under way, which will be followed.
    fn soonest(&mut self, from: Moment, why: EarlyBeat) -> Option<Moment> {
        if self.in_flight.beat.is_some() {
            // What it shows may be older than the reason to look.
            self.in_flight.follow_up = self.in_flight.follow_up.max(Some(why));
            return None;
        }
        let gap = self.gap();
        let earliest = self.in_flight.last_sent.map_or(from, |sent| (sent + gap).max(from));
        Some(earliest.max(self.in_flight.hold_until))
    }

    /// A hint shows that the store can be heard: an open breaker need not wait its time out. A
    /// store that can be heard and not used is not tried more often than a few times a beat.
    pub(crate) fn probe_sooner(&mut self, now: Moment) {
        if self.in_flight.breaker.state() != BreakerState::Open {
            return;
        }
        let pause = self.settings.heartbeat_interval / 5;
        let earliest = self.in_flight.last_sent.map_or(now, |sent| (sent + pause).max(now));
        self.in_flight.breaker.probe_by(earliest);
        self.in_flight.hold_until = self.in_flight.hold_until.min(earliest);
    }

    /// The least time between two looks that nothing but impatience asks for.
    pub(crate) fn gap(&self) -> Duration {
        self.settings.heartbeat_interval / 50
    }

    pub(crate) fn plan_beat(&mut self, at: Moment) {
        self.in_flight.due = at;
        self.set_timer(Timer::Beat, at);
    }

    /// Claims the lease if the time has come, or sets the timer for when it will.
    pub(crate) fn mind_claim(&mut self, now: Moment) {
        let Some((at, claim)) = self.claim_plan() else {
            self.cancel_timer(Timer::Takeover);
            return;
        };
        let at = at.max(self.in_flight.hold_until);
        if at > now {
            self.set_timer(Timer::Takeover, at);
        } else if self.in_flight.beat.is_none() {
            let expect = self.observed.version();
            if claim == Claim::Expired {
                self.report_down(expect);
            }
            self.send_beat(now, Some(Bid { claim, expect, hinted: false }));
        }
    }

    /// Says, once for each lease that ran out, that its holder is gone.
    fn report_down(&mut self, expired: Option<Version>) {
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        let Some(former) = holder.map(|holder| holder.node.clone()) else { return };
        if self.reported_down != expired {
            self.reported_down = expired;
            self.emit(Event::LeaderDown { former, proved: false });
        }
    }

    /// Sends a beat: a renewal for a holder if it is time, a claim if there is one, else a look.
    pub(crate) fn send_beat(&mut self, now: Moment, bid: Option<Bid>) {
        let stays = self.serving && !self.superseded;
        if self.leaving && self.term().is_none() && !stays {
            return;
        }
        let holds = self.term().is_some_and(Term::is_renewing);
        let in_between = bid.is_none() && self.registered && now < self.in_flight.regular;
        let renews = holds && !in_between;
        if let Some(opens) = self.in_flight.breaker.opens_at().filter(|_| !holds)
            && now < opens
        {
            self.plan_beat(opens);
            self.in_flight.hold_until = opens;
            return;
        }
        if self.in_flight.breaker.passing() == Some(BreakerState::HalfOpen) {
            self.emit(Event::BreakerHalfOpen);
        }
        let hinted = bid.is_some_and(|bid| bid.hinted) && !holds;
        let lease = self.lease_intent(now, renews, bid.filter(|_| !holds));
        let nonce = match &lease {
            LeaseIntent::Observe => None,
            LeaseIntent::Acquire(Acquire { nonce, .. })
            | LeaseIntent::Renew(Renew { nonce, .. }) => Some(*nonce),
        };
        self.in_flight.follow_up = None;
        self.in_flight.beats += 1;
        let node = self.node_record();
        let recording = match in_between {
            true => Recording::Leave,
            false => self.recording(now, &node, &lease),
        };
        let record = (recording == Recording::Write).then(|| node.clone());
        let request = Request::Beat(BeatRequest {
            node,
            recording,
            replaces: self.replaces,
            lease,
            known_view: self.view.as_ref().map(|view| view.version).unwrap_or_default(),
        });
        // A beat that is tried again is as late as its first try.
        let due = self.in_flight.due.min(now);
        self.in_flight.late_since.get_or_insert(due);
        self.in_flight.last_sent = Some(now);
        let id = self.send(request);
        let sent = now;
        self.in_flight.beat =
            Some(BeatUnderWay { id, sent, nonce, renews, in_between, hinted, record });
        self.cancel_timer(Timer::Beat);
    }

    fn lease_intent(&mut self, now: Moment, renews: bool, bid: Option<Bid>) -> LeaseIntent {
        let held = self.term().filter(|_| renews).map(|term| term.version);
        if held.is_none() && bid.is_none() {
            return LeaseIntent::Observe;
        }
        let ttl = self.settings.lease_timeout;
        let nonce = self.attempts.next_nonce(self.me.boot);
        self.attempts.sent(nonce, now);
        let lineage = self.observed.lineage().unwrap_or(crate::ids::Lineage(0));
        match (held, bid) {
            (Some(expect), _) => LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl }),
            (None, Some(Bid { claim, expect, hinted })) => {
                self.metrics.report.election_count += 1;
                if !hinted {
                    self.campaigning_since.get_or_insert(now);
                }
                LeaseIntent::Acquire(Acquire {
                    expect,
                    claim,
                    lineage,
                    floor: self.observed.highest(),
                    nonce,
                    ttl,
                })
            }
            (None, None) => LeaseIntent::Observe,
        }
    }

    fn node_record(&self) -> NodeRecord {
        NodeRecord {
            id: self.me.id.clone(),
            boot: self.me.boot,
            beat: self.in_flight.beats,
            eligible: self.standing.eligible && self.standing.healthy && !self.standing.recovering,
            draining: self.standing.draining || self.leaving,
            load: self.standing.load,
            seen: self.observed.highest(),
            partitions: self.partitions.report(),
            profile: self.me.profile.clone(),
        }
    }
}
