//! The beat was answered: what the reply means for the lease, the term and the view.

use super::{BeatUnderWay, Sooner};
use crate::core::Core;
use crate::election::leading::{Role, Term};
use crate::election::sight::{Freedom, Look};
use crate::event::Event;
use crate::guard::breaker::BreakerState;
use crate::ids::Epoch;
use crate::planted::planted;
use crate::protocol::{BeatReply, Expiry, Outcome, Registration, ReleaseReason, RequestId};
use crate::time::{Moment, whole_ms};

impl Core {
    /// The beat was answered.
    pub(crate) fn beat_replied(&mut self, now: Moment, id: RequestId, reply: BeatReply) {
        let Some(mut beat) = self.link.beat.take_if(|beat| beat.id == id) else {
            return;
        };
        let record = beat.record.take().map(|record| (record, beat.sent));
        self.link_works(now, &beat);
        if let Registration::TakenBy { boot, beat: count } = reply.registration {
            self.link.calm.beat_ended(None);
            self.plan_beat(now + self.settings.heartbeat_interval / 2);
            self.id_is_taken(now, boot, count);
            return;
        }
        if !beat.in_between {
            self.link.calm.beat_ended(record);
        }
        let joined = !std::mem::replace(&mut self.registered, true);
        self.replaces = None;
        let seen = self.sight.highest();
        let look = self.sight.look(beat.sent, now, &reply);
        self.plan_next_beat(now, &beat, joined);
        if look != Look::Stale {
            self.lease_seen(now, &beat, (look, seen), &reply);
        }
        let refused = reply.outcome == Some(Outcome::Conflict) && beat.claims();
        if refused && self.term().is_none() {
            self.claim_refused(now, look);
        }
        if let Some(view) = reply.view {
            self.adopt_view(view);
        }
        self.send_release();
    }

    /// Takes in a look that is believed; `seen` is the highest epoch that was seen before it.
    fn lease_seen(
        &mut self,
        now: Moment,
        beat: &BeatUnderWay,
        (look, seen): (Look, Epoch),
        reply: &BeatReply,
    ) {
        if look == Look::WentBack {
            self.emit(Event::StoreWentBack { seen, stored: self.sight.epoch() });
        }
        self.fence.saw(now, self.sight.epoch());
        self.tell_leader(now);
        self.cold_start_saw_lease(now);
        if self.sight.is_live(now) && self.term().is_none() {
            self.campaigning_since = self.campaigning_since.filter(|_| beat.claims());
        }
        match &self.role {
            Role::Holding(_) => {
                self.holder_saw_lease(now, reply.lease.as_ref(), reply.outcome);
                let renewed = beat.renews && reply.outcome == Some(Outcome::Applied);
                if renewed && self.term().is_some_and(Term::is_renewing) {
                    self.term_renewed(now);
                }
            }
            Role::Follower => self.follower_saw_lease(now, seen, reply),
        }
        if let Some(nonce) =
            beat.nonce.filter(|n| self.sight.version().map(|v| v.nonce) != Some(*n))
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
        let lost = self.sight.suspect_until().is_some() || version.epoch <= seen;
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
    /// as its holder left it, is claimed again at once.
    fn claim_refused(&mut self, now: Moment, look: Look) {
        let dead = matches!(self.sight.freedom(), Freedom::Dead { .. }) && look == Look::Fresh;
        self.campaigning_since = self.campaigning_since.filter(|_| dead);
        self.draw_tail();
        if !dead && !planted!(ClaimsInATightLoop) {
            let longest = match look {
                Look::Stale => self.settings.heartbeat_interval / 2,
                Look::Fresh | Look::WentBack => self.settings.heartbeat_interval / 8,
            };
            self.link.hold_until = now + self.rng.span(longest / 2, longest);
        }
    }

    fn link_works(&mut self, now: Moment, beat: &BeatUnderWay) {
        self.link.failures = 0;
        self.link.hold_until = now;
        if self.link.breaker.succeeded() == Some(BreakerState::Closed) {
            self.emit(Event::BreakerClosed);
        }
        let latency = now.since(beat.sent);
        self.metrics.beat_done(now, latency);
        self.emit(Event::WorkerHeartbeat { latency_ms: whole_ms(latency) });
        let settings = self.settings.clone();
        let expected = settings.heartbeat_interval;
        let due = self.link.late_since.take().unwrap_or(beat.sent);
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
        let among_others = self.sight.lease().is_some_and(|lease| !self.is_ours(lease));
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
            self.link.regular = beat.sent + wait;
        }
        let sooner = beat.sent + self.gap();
        let at = match self.link.again.take() {
            None if !beat.in_between && self.looks_twice() => {
                self.link.regular.min(beat.sent + self.settings.heartbeat_interval / 2)
            }
            None => self.link.regular,
            Some(Sooner::AtOnce) => now,
            Some(Sooner::Look) => sooner,
            Some(Sooner::Beat) => {
                self.link.regular = sooner;
                sooner
            }
        };
        self.plan_beat(at.max(now));
    }

    /// Where observers time the lease it counts from when they saw it. Whoever is first in line
    /// looks between two beats too, so as not to see a renewal a whole beat late.
    fn looks_twice(&self) -> bool {
        let lease = self.sight.lease().filter(|lease| lease.holder.is_some());
        let observed = lease.is_some_and(|lease| lease.expiry == Expiry::Observer);
        observed && self.rank() == Some(0) && self.term().is_none()
    }

    /// Says who coordinates, when that changed.
    fn tell_leader(&mut self, now: Moment) {
        let lease = self.sight.lease();
        let new = lease.and_then(|lease| lease.holder.as_ref()).map(|holder| holder.node.clone());
        let epoch = self.sight.epoch();
        let previous = self.told_leader.clone();
        if previous.as_ref().map(|told| (&told.0, told.1)) == Some((&new, epoch)) {
            return;
        }
        self.told_leader = Some((new.clone(), epoch));
        let previous = previous.and_then(|told| told.0);
        if previous == new && new.is_none() {
            return;
        }
        if new.is_some() {
            self.metrics.leader_changed();
            if let Some(warning) = self.flap.changed(now) {
                self.emit(warning);
            }
        }
        self.emit(Event::LeaderChanged { previous, new, epoch });
    }
}
