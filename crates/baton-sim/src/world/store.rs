//! The simulated store: the executable specification behind faults.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Lineage;
use baton_core::protocol::{Acquire, Hint, LeaseIntent, LeaseSnapshot, Outcome, Reply, Request};
use baton_store::ExpiryClock;
use baton_store::memory::{Space, StepTime};

use crate::clock::{SimClock, TrueTime};
use crate::fact::ChangeCause;
use crate::plan::{FailoverLoss, Plan};

/// What a request did to the record.
pub struct LeaseChange {
    /// As it was.
    pub before: Option<LeaseSnapshot>,
    /// As it is.
    pub after: Option<LeaseSnapshot>,
    /// Had it expired?
    pub expired: bool,
    /// Why.
    pub cause: ChangeCause,
}

/// What a request came to.
pub struct StoreReply {
    /// The answer.
    pub reply: Reply,
    /// What it did to the record, if anything.
    pub change: Option<LeaseChange>,
    /// What the store pushes.
    pub hint: Option<Hint>,
    /// Was it answered from an older state?
    pub stale: bool,
}

/// Back to when a failover goes.
#[derive(Clone, Copy, Debug)]
pub enum Rollback {
    /// Back by this time.
    By(Duration),
    /// To when the lease last had no holder, if that is remembered.
    ToVacant,
    /// To before the last grant, if that is remembered.
    ToLastTerm,
}

/// Is the store there?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreState {
    /// It answers.
    Up,
    /// Its host refuses connections.
    Refusing,
    /// Nothing answers.
    Silent,
}

/// The store.
pub struct SimStore {
    space: Space,
    /// The clock that judges leases.
    pub clock: SimClock,
    /// How far the clock that people read is ahead of that.
    pub wall_offset_ms: u64,
    /// Is it there?
    pub state: StoreState,
    remembers: Option<Duration>,
    past: VecDeque<(TrueTime, Space)>,
    member_age: bool,
    loss: FailoverLoss,
    lineages: u64,
}

impl SimStore {
    /// An empty store for a plan.
    pub fn new(plan: &Plan, clock: SimClock) -> Self {
        use crate::plan::Fault;
        let remembers = plan.has(Fault::StaleReplica) || plan.has(Fault::StoreFailover);
        Self {
            space: Space::new(plan.expiry, Lineage(0)),
            clock,
            wall_offset_ms: 1_700_000_000_000,
            state: StoreState::Up,
            remembers: remembers.then(|| plan.settings.lease_timeout / 2),
            past: VecDeque::new(),
            member_age: plan.member_age,
            loss: plan.loss,
            lineages: 0,
        }
    }

    fn stamp(&self, at: TrueTime) -> StepTime {
        let now = self.clock.read(at);
        StepTime { now, wall_ms: self.wall_offset_ms + now.as_micros() / 1_000 }
    }

    /// The lease as it is.
    pub fn lease(&self, at: TrueTime) -> Option<LeaseSnapshot> {
        self.space.snapshot(self.clock.read(at))
    }

    /// Carries a request out. With `lag`, a mere look is answered from a state this old.
    pub fn serve(&mut self, at: TrueTime, request: &Request, lag: Option<Duration>) -> StoreReply {
        let stamp = self.stamp(at);
        self.remember(at);
        let before = self.space.snapshot(stamp.now);
        let (reply, hint) = self.carry_out(stamp, request);
        let after = self.space.snapshot(stamp.now);
        let change = self.lease_change(request, before, after);
        let mut response = StoreReply { reply, change, hint, stale: false };
        if let Some(old) = lag.and_then(|lag| self.as_of(at - lag)) {
            self.answer_from(old, stamp, request, &mut response);
        }
        response
    }

    /// Views are found by beats here: only what a release or an ask left behind is pushed.
    fn carry_out(&mut self, at: StepTime, request: &Request) -> (Reply, Option<Hint>) {
        let reply = self.space.perform(at, request.clone(), self.member_age);
        let applied = reply == Reply::Done(Outcome::Applied);
        let hint = request.hint_when_applied().filter(|hint| applied && *hint != Hint::ViewMoved);
        (reply, hint)
    }

    fn lease_change(
        &self,
        request: &Request,
        before: Option<LeaseSnapshot>,
        after: Option<LeaseSnapshot>,
    ) -> Option<LeaseChange> {
        let version = |lease: &Option<LeaseSnapshot>| lease.as_ref().map(|lease| lease.version);
        if version(&before) == version(&after) {
            return None;
        }
        let cause = match request {
            Request::Beat(beat) => match beat.lease {
                LeaseIntent::Acquire(Acquire { floor, .. }) => ChangeCause::Acquire { floor },
                _ => ChangeCause::Renew,
            },
            _ => ChangeCause::Release,
        };
        let over = baton_core::protocol::Expiry::Left(Duration::ZERO);
        let expired = before.as_ref().is_some_and(|lease| lease.expiry == over);
        Some(LeaseChange { before, after, expired, cause })
    }

    fn answer_from(&self, old: &Space, at: StepTime, request: &Request, response: &mut StoreReply) {
        match (request, &mut response.reply) {
            (Request::Beat(beat), Reply::Beat(reply)) if beat.lease == LeaseIntent::Observe => {
                reply.lease = old.snapshot(at.now);
                // A replica has the view it has, older or not.
                reply.view = old.view().filter(|v| v.version != beat.known_view).map(Arc::clone);
                response.stale = true;
            }
            (Request::ReadMembers, Reply::Members(members)) => {
                *members = old.members(at.now, self.member_age);
                response.stale = true;
            }
            _ => {}
        }
    }

    fn remember(&mut self, at: TrueTime) {
        let Some(span) = self.remembers else { return };
        self.past.push_back((at, self.space.clone()));
        while self.past.front().is_some_and(|(then, _)| at.since(*then) > span) {
            self.past.pop_front();
        }
    }

    fn as_of(&self, at: TrueTime) -> Option<&Space> {
        self.past.iter().rev().find(|(then, _)| *then <= at).map(|(_, space)| space)
    }

    fn replica(&self, at: TrueTime, back: Rollback) -> Option<&Space> {
        let mut past = self.past.iter().rev().map(|(_, space)| space);
        let lease = |space: &Space| space.snapshot(self.clock.read(at));
        let present = self.space.epoch();
        match back {
            Rollback::By(lost) => self.as_of(at - lost),
            Rollback::ToVacant => past.find(|it| lease(it).is_some_and(|l| l.holder.is_none())),
            Rollback::ToLastTerm => past.find(|it| it.epoch() < present),
        }
    }

    /// Fails over to a replica that lacks the last writes. Only to one where a lease exists: the
    /// first write of a namespace is taken to be replicated.
    pub fn fail_over(&mut self, at: TrueTime, back: Rollback) -> Option<LeaseChange> {
        if self.loss == FailoverLoss::None {
            return None;
        }
        let before = self.space.snapshot(self.clock.read(at));
        let mut replica = self.replica(at, back).filter(|old| old.epoch().0 > 0)?.clone();
        if self.loss == FailoverLoss::Detectable {
            self.lineages += 1;
            replica.begin_lineage(Lineage(self.lineages));
        }
        self.space = replica;
        self.past.clear();
        let after = self.space.snapshot(self.clock.read(at));
        Some(LeaseChange { before, after, expired: false, cause: ChangeCause::Rollback })
    }

    /// Comes back with its data. Leases of its own get their full time again.
    pub fn restart(&mut self, at: TrueTime, expiry: ExpiryClock) {
        if expiry == ExpiryClock::StoreLease {
            self.space.extend_leases(self.clock.read(at));
        }
    }
}
