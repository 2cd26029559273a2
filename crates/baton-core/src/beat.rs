//! The beat: one request that refreshes the node record, acts on the lease and learns of a new
//! view. At most one is under way at a time.
//!
//! ```text
//!   Timer::Beat ─┐                         ┌── Applied / Conflict ──► sight, term, view
//!   hint ────────┼──► send ──► store ──────┤
//!   claim due ───┘                         └── Failed ──► breaker, backoff; Unknown attempts are
//!                                              kept until a look shows what became of them
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::action::Action;
use crate::core::Core;
use crate::election::leading::{Role, Term};
use crate::election::sight::Look;
use crate::event::Event;
use crate::guard::breaker::{Breaker, BreakerState};
use crate::ids::{BootId, Epoch, NodeId, Nonce};
use crate::planted::planted;
use crate::protocol::{
    BeatReply, BeatRequest, Claim, Failure, LeaseIntent, NodeRecord, Outcome, Registration,
    Request, RequestId, Version, View,
};
use crate::time::{Moment, whole_ms};
use crate::timer::Timer;

/// The requests under way, one of each kind at most.
#[derive(Clone, Debug, Hash)]
pub struct Link {
    pub(crate) breaker: Breaker,
    pub(crate) beat: Option<BeatUnderWay>,
    pub(crate) members: Option<RequestId>,
    pub(crate) publish: Option<(RequestId, Arc<View>)>,
    pub(crate) release: Option<(RequestId, Version, Option<NodeId>)>,
    pub(crate) leave: Option<RequestId>,
    pub(crate) ask: Option<RequestId>,
    requests: u64,
    beats: u64,
    failures: u32,
    due: Moment,
    late_since: Option<Moment>,
    last_sent: Option<Moment>,
    hold_until: Moment,
}

/// The beat under way.
#[derive(Clone, Copy, Debug, Hash)]
pub struct BeatUnderWay {
    id: RequestId,
    sent: Moment,
    nonce: Option<Nonce>,
    renews: bool,
}

/// A claim together with the version it is made on. They belong together: what proves one version
/// free says nothing of another.
#[derive(Clone, Copy, Debug)]
pub struct Bid {
    pub(crate) claim: Claim,
    pub(crate) expect: Option<Version>,
}

impl Link {
    pub(crate) fn new(breaker: Breaker) -> Self {
        Self {
            breaker,
            beat: None,
            members: None,
            publish: None,
            release: None,
            leave: None,
            ask: None,
            requests: 0,
            beats: 0,
            failures: 0,
            due: Moment::default(),
            late_since: None,
            last_sent: None,
            hold_until: Moment::default(),
        }
    }

    /// Is a renewal under way, whose outcome decides which version there is?
    pub(crate) fn renewal_is_out(&self) -> bool {
        self.beat.is_some_and(|beat| beat.renews)
    }
}

/// Attempts to write the lease whose outcome is not known yet.
#[derive(Clone, Debug, Default, Hash)]
pub struct Attempts {
    made: u64,
    open: VecDeque<(Nonce, Moment)>,
}

/// More than can be under way within one lease. A forgotten one costs a renewal, not safety.
const ATTEMPTS_KEPT: usize = 8;

impl Attempts {
    pub(crate) fn next_nonce(&mut self, boot: BootId) -> Nonce {
        self.made += 1;
        Nonce { boot, attempt: self.made }
    }

    fn sent(&mut self, nonce: Nonce, at: Moment) {
        if self.open.len() == ATTEMPTS_KEPT {
            self.open.pop_front();
        }
        self.open.push_back((nonce, at));
    }

    fn forget(&mut self, nonce: Nonce) {
        self.open.retain(|(open, _)| *open != nonce);
    }

    /// When the attempt with this nonce was first sent, if it is one of ours.
    pub(crate) fn sent_at(&self, nonce: Nonce) -> Option<Moment> {
        self.open.iter().find(|(open, _)| *open == nonce).map(|&(_, at)| at)
    }
}

impl Core {
    /// Sends a request under a new id.
    pub(crate) fn send(&mut self, request: Request) -> RequestId {
        self.link.requests += 1;
        let id = RequestId(self.link.requests);
        let timeout = self.settings.request_timeout;
        self.out.push(Action::Send { id, request, timeout });
        id
    }

    /// The beat's timer fell due.
    pub(crate) fn beat_due(&mut self, now: Moment) {
        if now < self.link.due {
            self.set_timer(Timer::Beat, self.link.due);
        } else if self.link.beat.is_none() {
            self.send_beat(now, None);
        }
    }

    /// Beats sooner than planned, though never in a tight loop.
    pub(crate) fn beat_soon(&mut self, now: Moment) {
        let gap = self.gap();
        let earliest = self.link.last_sent.map_or(now, |sent| (sent + gap).max(now));
        let at = earliest.max(self.link.hold_until);
        if at < self.link.due || self.link.due < now {
            self.plan_beat(at);
        }
    }

    /// The least time between two looks that nothing but impatience asks for.
    fn gap(&self) -> Duration {
        self.settings.heartbeat_interval / 50
    }

    fn plan_beat(&mut self, at: Moment) {
        self.link.due = at;
        self.set_timer(Timer::Beat, at);
    }

    /// Claims the lease if the time has come, or sets the timer for when it will.
    pub(crate) fn mind_claim(&mut self, now: Moment) {
        let Some((at, claim)) = self.claim_plan() else {
            self.cancel_timer(Timer::Takeover);
            return;
        };
        let at = at.max(self.link.hold_until);
        if at > now {
            self.set_timer(Timer::Takeover, at);
        } else if self.link.beat.is_none() {
            let bid = Bid { claim, expect: self.sight.version() };
            self.send_beat(now, Some(bid));
        }
    }

    /// Sends a beat: a renewal for a holder, a claim if there is one, else a look.
    pub(crate) fn send_beat(&mut self, now: Moment, bid: Option<Bid>) {
        let renews = self.term().is_some_and(Term::is_renewing);
        if let Some(opens) = self.link.breaker.opens_at().filter(|_| !renews)
            && now < opens
        {
            self.plan_beat(opens);
            self.link.hold_until = opens;
            return;
        }
        if self.link.breaker.passing() == Some(BreakerState::HalfOpen) {
            self.emit(Event::BreakerHalfOpen);
        }
        let lease = self.lease_intent(now, bid);
        let nonce = match &lease {
            LeaseIntent::Observe => None,
            LeaseIntent::Acquire { nonce, .. } | LeaseIntent::Renew { nonce, .. } => Some(*nonce),
        };
        self.link.beats += 1;
        let request = Request::Beat(BeatRequest {
            node: self.node_record(),
            replaces: self.replaces,
            lease,
            known_view: self.view.as_ref().map(|view| view.version).unwrap_or_default(),
        });
        // A beat that is tried again is as late as its first try.
        let due = self.link.due.min(now);
        self.link.late_since.get_or_insert(due);
        self.link.last_sent = Some(now);
        let id = self.send(request);
        self.link.beat = Some(BeatUnderWay { id, sent: now, nonce, renews });
        self.cancel_timer(Timer::Beat);
    }

    fn lease_intent(&mut self, now: Moment, bid: Option<Bid>) -> LeaseIntent {
        let ttl = self.settings.lease_timeout;
        let held = self.term().filter(|term| term.is_renewing()).map(|term| term.version);
        if held.is_none() && bid.is_none() {
            return LeaseIntent::Observe;
        }
        let nonce = self.attempts.next_nonce(self.me.boot);
        self.attempts.sent(nonce, now);
        let lineage = self.sight.lineage().unwrap_or(crate::ids::Lineage(0));
        match (held, bid) {
            (Some(expect), _) => LeaseIntent::Renew { expect, lineage, nonce, ttl },
            (None, Some(Bid { claim, expect })) => {
                self.metrics.stood_for_election();
                self.campaigning_since.get_or_insert(now);
                LeaseIntent::Acquire {
                    expect,
                    claim,
                    lineage,
                    floor: self.sight.highest(),
                    nonce,
                    ttl,
                }
            }
            (None, None) => LeaseIntent::Observe,
        }
    }

    fn node_record(&self) -> NodeRecord {
        NodeRecord {
            id: self.me.id.clone(),
            boot: self.me.boot,
            beat: self.link.beats,
            eligible: self.standing.eligible && self.standing.healthy && !self.standing.recovering,
            draining: self.standing.draining || self.leaving,
            load: self.standing.load,
            seen: self.sight.highest(),
            profile: self.me.profile.clone(),
        }
    }

    /// The beat was answered.
    pub(crate) fn beat_replied(&mut self, now: Moment, id: RequestId, reply: BeatReply) {
        let Some(beat) = self.link.beat.take_if(|beat| beat.id == id) else {
            return;
        };
        self.link_works(now, beat);
        if let Registration::TakenBy { boot, beat: count } = reply.registration {
            self.plan_beat(now + self.settings.heartbeat_interval / 2);
            self.id_is_taken(now, boot, count);
            return;
        }
        let joined = !std::mem::replace(&mut self.registered, true);
        self.replaces = None;
        let seen = self.sight.highest();
        let look = self.sight.look(beat.sent, now, &reply);
        self.plan_next_beat(now, beat, joined);
        if reply.outcome == Some(Outcome::Conflict) && !beat.renews {
            self.claim_refused(now, look);
        }
        if look != Look::Stale {
            self.lease_seen(now, beat, (look, seen), &reply);
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
        beat: BeatUnderWay,
        (look, seen): (Look, Epoch),
        reply: &BeatReply,
    ) {
        if look == Look::WentBack {
            self.emit(Event::StoreWentBack { seen, stored: self.sight.epoch() });
        }
        self.fence.saw(now, self.sight.epoch());
        self.tell_leader(now);
        self.cold_start_saw_lease(now);
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
        let lost = lost && !planted!(GrantAcrossLineage);
        let over = lost || (version.epoch <= self.last_ended && !planted!(BootIdIgnored));
        let stands = self.is_candidate() || planted!(GrantOutlivesStanding);
        if over || self.leaving || !stands {
            self.last_ended = self.last_ended.max(version.epoch);
            self.release_leftover(version);
            return;
        }
        let sent = self.attempts.sent_at(version.nonce);
        let sent = if planted!(TrustFromReply) { sent.map(|_| now) } else { sent };
        self.take_up(now, version, sent);
    }

    /// A claim came too late, or too early: the next one waits a little, and longer if the answer
    /// does not even fit what was seen before.
    fn claim_refused(&mut self, now: Moment, look: Look) {
        self.campaigning_since = None;
        self.draw_tail();
        if !planted!(ClaimsInATightLoop) {
            let longest = match look {
                Look::Stale => self.settings.heartbeat_interval / 2,
                Look::Fresh | Look::WentBack => self.settings.heartbeat_interval / 8,
            };
            self.link.hold_until = now + self.rng.span(longest / 2, longest);
        }
    }

    fn link_works(&mut self, now: Moment, beat: BeatUnderWay) {
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

    /// The next beat comes an interval after this one was sent, give or take the jitter. A node
    /// that joins others shifts its beats by the startup jitter, so that a fleet spreads.
    fn plan_next_beat(&mut self, now: Moment, beat: BeatUnderWay, joined: bool) {
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
        self.plan_beat((beat.sent + wait).max(now));
    }

    /// The beat was not answered.
    pub(crate) fn beat_failed(&mut self, now: Moment, id: RequestId, failure: Failure) {
        let Some(beat) = self.link.beat.take_if(|beat| beat.id == id) else {
            return;
        };
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
        if self.link.breaker.failed(now) == Some(BreakerState::Open) {
            let failures = self.link.breaker.status().failure_count;
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
        let step: Duration = (interval / 20) * (1 << self.link.failures.min(5));
        let wait = step.min(longest);
        self.link.failures = self.link.failures.saturating_add(1);
        let at = now + self.rng.span(wait / 2, wait);
        let opens = self.link.breaker.opens_at().filter(|_| !holds);
        self.link.hold_until = opens.map_or(at, |opens| opens.max(at));
        self.plan_beat(self.link.hold_until);
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
