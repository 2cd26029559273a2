//! The beat was answered: what the reply means for the lease, the term and the view.

use std::time::Duration;

use super::{BeatUnderWay, EarlyBeat};
use crate::core::Core;
use crate::election::leading::Term;
use crate::election::observed_lease::{Availability, Freshness};
use crate::event::Event;
use crate::guard::breaker::BreakerState;
use crate::ids::Epoch;
use crate::planted::planted;
use crate::protocol::{BeatReply, Expiry, Outcome, Registration, ReleaseReason, RequestId};
use crate::time::{Moment, whole_ms};

/// The least pause before a claim of death that the store doubts is made again.
const DOUBT_PAUSE_MIN: Duration = Duration::from_millis(1);

impl Core {
    /// The beat was answered.
    pub(crate) fn beat_replied(&mut self, now: Moment, id: RequestId, reply: BeatReply) {
        let Some(mut beat) = self.in_flight.beat.take_if(|beat| beat.id == id) else {
            return;
        };
        let record = beat.record.take().map(|record| (record, beat.sent));
        let refused = reply.outcome == Some(Outcome::Conflict) && beat.claims();
        // What a hint made of this node, and the store refused, was a look and nothing more.
        beat.in_between |= refused && beat.hinted && !planted!(HintRefusalHoldsClaim);
        self.link_works(now, &beat);
        if let Registration::TakenBy { boot, beat: count } = reply.registration {
            self.in_flight.read_cadence.written = None;
            self.plan_beat(now + self.settings.heartbeat_interval / 2);
            self.id_is_taken(now, boot, count);
            return;
        }
        let written = record.filter(|_| !beat.in_between);
        if let Some((record, sent)) = &written {
            self.record_written(now, *sent, record);
        }
        if !beat.in_between {
            self.in_flight.read_cadence.written = written;
        }
        let joined = !std::mem::replace(&mut self.registered, true);
        (self.replaces, self.id_holder) = (None, None);
        let seen = self.observed.highest();
        let (version, known) = (self.observed.version(), self.observed.news());
        let look = self.observed.look(beat.sent, now, &reply);
        let seen_view = self.view.as_ref().map(|view| view.version).unwrap_or_default();
        let is_view_new = reply.view.as_ref().is_some_and(|view| view.version > seen_view);
        if self.observed.news() != known || is_view_new {
            self.hint_was_right(&beat);
        }
        self.plan_next_beat(now, &beat, joined);
        if look != Freshness::Stale {
            self.lease_seen(now, &beat, (look, seen), &reply);
        }
        if refused && !beat.in_between && self.term().is_none() {
            let new = self.observed.version() != version;
            self.claim_refused(now, &beat, (look, new));
        }
        if let Some(view) = reply.view {
            self.adopt_view(view);
            self.cold_start_saw_view(now);
        }
        self.mind_joining(now);
        self.send_release();
    }

    /// Takes in a look that is believed; `seen` is the highest epoch that was seen before it.
    fn lease_seen(
        &mut self,
        now: Moment,
        beat: &BeatUnderWay,
        (look, seen): (Freshness, Epoch),
        reply: &BeatReply,
    ) {
        if look == Freshness::WentBack {
            self.emit(Event::StoreWentBack { seen, stored: self.observed.epoch() });
        }
        self.fence.observe(now, self.observed.epoch());
        self.report_leader(now);
        self.holder_may_be_dead(now);
        self.cold_start_saw_lease(now);
        if self.observed.is_live(now) && self.term().is_none() {
            let campaigns = beat.claims() && !beat.in_between;
            self.campaigning_since = self.campaigning_since.filter(|_| campaigns);
        }
        if beat.hinted && reply.outcome == Some(Outcome::Applied) {
            self.campaigning_since.get_or_insert(beat.sent);
        }
        if self.term().is_some() {
            self.holder_saw_lease(now, reply.lease.as_ref(), reply.outcome);
            let renewed = beat.renews && reply.outcome == Some(Outcome::Applied);
            if renewed && self.term().is_some_and(Term::is_renewing) {
                self.term_renewed(now);
            }
        } else {
            self.follower_saw_lease(now, seen, reply);
        }
        if let Some(nonce) =
            beat.nonce.filter(|n| self.observed.version().map(|v| v.nonce) != Some(*n))
        {
            self.attempts.forget(nonce);
        }
    }

    fn follower_saw_lease(&mut self, now: Moment, seen: Epoch, reply: &BeatReply) {
        let Some(lease) = reply.lease.as_ref().filter(|lease| self.is_ours(lease)) else {
            return;
        };
        if planted!(TimeoutTakenAsFailure) && reply.outcome != Some(Outcome::Applied) {
            return;
        }
        let version = lease.version;
        // A grant that was never opened may have had successors in data that the store has lost.
        let lost = self.observed.suspect_until().is_some() || version.epoch <= seen;
        let over = lost || (version.epoch <= self.last_ended && !planted!(BootIdIgnored));
        let stands = self.is_candidate() || planted!(GrantOutlivesStanding);
        if over || self.leaving || !stands {
            let ended = version.epoch <= self.last_ended;
            let reason = if ended { ReleaseReason::WindowClosed } else { ReleaseReason::GivenBack };
            self.last_ended = self.last_ended.max(version.epoch);
            self.release_leftover(version, reason);
            return;
        }
        let sent = self.attempts.sent_at(version.nonce);
        let sent = if planted!(TrustFromReply) { sent.map(|_| now) } else { sent };
        self.take_up(now, version, sent);
    }

    /// A claim came too late, or too early: the next one waits a little, and longer if the answer
    /// does not even fit what was seen before. Only a dead holder's lease, which the look has shown
    /// as its holder left it, is claimed again at once. If the look shows nothing `new`, the store
    /// itself sees the holder alive: it may need a moment to notice the death, so the pause is
    /// short at first, and as long as the claim has been refused so far. A lease that was left to
    /// this node meanwhile, by a holder that ended right after, is claimed at once too.
    ///
    /// A claim that only a hint asked for does not come here: it moves nothing.
    fn claim_refused(&mut self, now: Moment, beat: &BeatUnderWay, (look, new): (Freshness, bool)) {
        let dead = matches!(self.observed.availability(), Availability::Dead { .. })
            && look == Freshness::Fresh;
        self.campaigning_since = self.campaigning_since.filter(|_| dead);
        self.draw_tail_delay();
        if new && self.is_left_to_me() {
            return;
        }
        if !dead && !planted!(ClaimsInATightLoop) {
            let longest = match look {
                _ if planted!(HintRefusalHoldsClaim) && beat.hinted => {
                    self.settings.heartbeat_interval
                }
                Freshness::Stale => self.settings.heartbeat_interval / 2,
                Freshness::Fresh | Freshness::WentBack => self.settings.heartbeat_interval / 8,
            };
            self.in_flight.hold_until = now + self.rng.span(longest / 2, longest);
        }
        if let Some(since) = self.observed.dead_since().filter(|_| dead && !new) {
            let longest = self.settings.heartbeat_interval / 8;
            self.in_flight.hold_until = now + now.since(since).clamp(DOUBT_PAUSE_MIN, longest);
        }
    }

    fn is_left_to_me(&self) -> bool {
        match self.observed.availability() {
            Availability::Vacant { successor, .. } => successor.as_ref() == Some(&self.me.id),
            _ => false,
        }
    }

    fn link_works(&mut self, now: Moment, beat: &BeatUnderWay) {
        self.in_flight.failures = 0;
        if !beat.in_between {
            self.in_flight.hold_until = now;
        }
        if self.in_flight.breaker.succeeded() == Some(BreakerState::Closed) {
            self.emit(Event::BreakerClosed);
        }
        let latency = now.since(beat.sent);
        self.metrics.beat_done(now, latency);
        self.emit(Event::WorkerHeartbeat { latency_ms: whole_ms(latency) });
        let settings = self.settings.clone();
        let expected = settings.heartbeat_interval;
        let due = self.in_flight.late_since.take().unwrap_or(beat.sent);
        let told = self.contention.beat_done(now, due, expected, &settings.contention);
        if let Some(event) = told {
            self.emit(event);
        }
    }

    /// The next beat comes an interval after this one was sent, give or take the jitter; a look in
    /// between puts nothing off. A node that joins others shifts its beats by the startup jitter,
    /// so that a fleet spreads.
    fn plan_next_beat(&mut self, now: Moment, beat: &BeatUnderWay, joined: bool) {
        let settings = &self.settings;
        let among_others = self.observed.lease().is_some_and(|lease| !self.is_ours(lease));
        let wait = if joined && among_others && !settings.startup_jitter_max.is_zero() {
            self.rng.span(settings.startup_jitter_min, settings.startup_jitter_max)
        } else {
            let jitter = settings.heartbeat_jitter;
            self.rng.span(
                settings.heartbeat_interval.saturating_sub(jitter),
                settings.heartbeat_interval + jitter,
            )
        };
        if !beat.in_between {
            self.in_flight.regular = beat.sent + wait;
        }
        let sooner = beat.sent + self.gap();
        let at = match self.in_flight.follow_up.take() {
            None if !beat.in_between && self.looks_twice() => {
                self.in_flight.regular.min(beat.sent + self.settings.heartbeat_interval / 2)
            }
            None => self.in_flight.regular,
            Some(EarlyBeat::AtOnce) => self.hinted_look(now),
            Some(EarlyBeat::Look) => self.hinted_look(sooner),
            Some(EarlyBeat::Beat) => {
                self.in_flight.regular = sooner;
                sooner
            }
        };
        self.plan_beat(at.max(now));
    }

    /// When the look comes that a hint asked for while a beat was under way.
    fn hinted_look(&mut self, from: Moment) -> Moment {
        let at = self.in_flight.hints.looks.next(from);
        if at < self.in_flight.regular {
            self.in_flight.hints.looks.spend(at);
        }
        at.min(self.in_flight.regular)
    }

    /// What a hint caused has shown something new: it is not counted.
    fn hint_was_right(&mut self, beat: &BeatUnderWay) {
        if beat.hinted {
            self.in_flight.hints.bids.give_back();
        } else if beat.in_between {
            self.in_flight.hints.looks.give_back();
        }
    }

    /// Where observers time the lease it counts from when they saw it. The node that is first
    /// in line looks between two beats too, so as not to see a renewal a whole beat late.
    fn looks_twice(&self) -> bool {
        let lease = self.observed.lease().filter(|lease| lease.holder.is_some());
        let observed = lease.is_some_and(|lease| lease.expiry == Expiry::Observer);
        observed && self.rank() == Some(0) && self.term().is_none()
    }

    /// Says who leads, when that changed.
    fn report_leader(&mut self, now: Moment) {
        let lease = self.observed.lease();
        let new = lease.and_then(|lease| lease.holder.as_ref()).map(|holder| holder.node.clone());
        let epoch = self.observed.epoch();
        let previous = self.reported_leader.clone();
        if previous.as_ref().map(|told| (&told.0, told.1)) == Some((&new, epoch)) {
            return;
        }
        self.reported_leader = Some((new.clone(), epoch));
        let previous = previous.and_then(|told| told.0);
        if previous == new && new.is_none() {
            return;
        }
        if new.is_some() {
            self.metrics.report.leader_changes += 1;
            if let Some(warning) = self.flap.changed(now) {
                self.emit(warning);
            }
        }
        self.emit(Event::LeaderChanged { previous, new, epoch });
    }
}
