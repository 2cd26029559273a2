//! The network between nodes and store, and between nodes: latency, loss, cuts.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Failure, Hint, Registration, Reply, Request, RequestId};
use baton_core::time::Moment;

use super::store::{LeaseChange, StoreState};
use super::{Delivery, Event, World};
use crate::clock::TrueTime;
use crate::fact::{ChangeCause, Fact, ProcessId};
use crate::plan::Fault;

/// A request on its way.
pub struct Message {
    pub pid: ProcessId,
    pub id: RequestId,
    pub request: Request,
    /// When it was sent, by the sender's clock.
    pub sent: Moment,
    /// How long the answer takes; `None` if it is lost.
    pub reply_delay: Option<Duration>,
    /// How long ago the state was from which the store answers; `None` if it is the present one.
    pub lag: Option<Duration>,
}

/// What does not get through around a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkCut {
    /// Its requests to the store.
    ToStore,
    /// The store's replies and hints.
    FromStore,
    /// Everything between it and the other nodes.
    Nodes,
    /// What it says to other nodes.
    Unheard,
    /// Dials of its lifeline from another node: a firewall refuses them.
    Dials,
}

/// What does not get through, and around which slots.
#[derive(Default)]
pub struct NetworkCuts(BTreeSet<(NetworkCut, usize)>);

impl NetworkCuts {
    /// Cuts a slot off in some ways.
    pub fn add(&mut self, slot: usize, cuts: &[NetworkCut]) {
        self.0.extend(cuts.iter().map(|cut| (*cut, slot)));
    }

    /// Is a slot cut off in this way?
    pub fn has(&self, cut: NetworkCut, slot: usize) -> bool {
        self.0.contains(&(cut, slot))
    }

    /// Does a firewall refuse this dial?
    pub fn refuses(&self, from: usize, to: usize) -> bool {
        from != to && self.has(NetworkCut::Dials, to)
    }

    /// Mends everything around a slot.
    pub fn mend(&mut self, slot: usize) {
        self.0.retain(|(_, cut_off)| *cut_off != slot);
    }

    /// Can these two nodes talk to each other, both ways?
    pub fn reach_each_other(&self, one: usize, other: usize) -> bool {
        self.reaches(one, other) && self.reaches(other, one)
    }

    /// Does what the one says reach the other?
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        let silent = self.has(NetworkCut::Unheard, from) || self.has(NetworkCut::Nodes, from);
        from == to || !(silent || self.has(NetworkCut::Nodes, to))
    }
}

impl World {
    /// Most messages are quick, one in four is not while it storms.
    fn one_way(&mut self) -> Duration {
        let latency = &self.plan.latency;
        let slow = self.rng.one_in(4) && !self.recovery.has_begun();
        let longest = if slow { latency.most } else { latency.usual };
        self.rng.span(latency.least, longest)
    }

    fn message_fault(&mut self) -> Option<Fault> {
        if self.recovery.has_begun() || !self.rng.one_in(self.plan.message_fault_one_in) {
            return None;
        }
        let mut faults = Fault::of_messages();
        let pick = self.rng.below(Fault::of_messages().count() as u64);
        faults.nth(pick as usize).filter(|fault| self.plan.has(*fault))
    }

    /// Sends a request, which may meet a fault.
    pub(super) fn send(&mut self, pid: ProcessId, id: RequestId, sent: Moment, request: Request) {
        if self.cuts.has(NetworkCut::ToStore, pid.slot) {
            return;
        }
        let (mut out, mut reply_delay) = (self.one_way(), Some(self.one_way()));
        let mut lag = None;
        let fault = self.message_fault();
        let tail = self.plan.latency.tail;
        if let Some(fault) = fault.filter(|fault| *fault != Fault::StaleReplica) {
            self.coverage.fault(fault);
        }
        match fault {
            Some(Fault::SlowMessage) if self.rng.one_in(2) => out = self.rng.span(out, tail),
            Some(Fault::SlowMessage) => reply_delay = reply_delay.map(|it| self.rng.span(it, tail)),
            Some(Fault::LostRequest) => return,
            Some(Fault::LostReply) => reply_delay = None,
            Some(Fault::Throttle) => {
                let at = self.now + out + reply_delay.unwrap_or_default();
                self.fail(at, pid, id, Failure::NotDone);
                return;
            }
            Some(Fault::Reset) => {
                self.fail(self.now + out, pid, id, Failure::Unknown);
                if self.rng.one_in(2) {
                    return;
                }
                reply_delay = None;
            }
            Some(Fault::StaleReplica) => {
                let longest = self.plan.settings.lease_timeout / 2;
                lag = Some(self.rng.span(Duration::ZERO, longest));
            }
            Some(Fault::Duplicate) => {
                let late = self.now + self.rng.span(out, tail);
                let (request, reply_delay) = (request.clone(), Some(self.one_way()));
                let copy = Message { pid, id, request, sent, reply_delay, lag: None };
                self.queue.push(late, Event::AtStore(Box::new(copy)));
            }
            _ => {}
        }
        let message = Message { pid, id, request, sent, reply_delay, lag };
        self.queue.push(self.now + out, Event::AtStore(Box::new(message)));
    }

    fn fail(&mut self, at: TrueTime, pid: ProcessId, id: RequestId, failure: Failure) {
        self.queue.push(at, Event::Deliver(pid, Delivery::Failed(id, failure)));
    }

    /// A request reaches the store.
    pub(super) fn reach_store(&mut self, message: Box<Message>) {
        let Message { pid, id, request, sent, reply_delay, lag } = *message;
        match self.store.state {
            StoreState::Up => {}
            StoreState::Silent => return,
            StoreState::Refusing => {
                if let Some(reply_delay) = reply_delay {
                    self.fail(self.now + reply_delay, pid, id, Failure::NotDone);
                }
                return;
            }
        }
        let response = self.store.serve(self.now, &request, lag);
        self.trace.line(self.now, || {
            format!("store {} of node {}: {:?}", request.kind(), pid.slot, response.reply)
        });
        if let Some(change) = response.change {
            self.lease_changed(pid, sent, &change);
            if matches!(change.cause, ChangeCause::Acquire { .. }) {
                self.threaten_grant();
            }
        }
        if let (Request::Beat(beat), Reply::Beat(reply)) = (&request, &response.reply)
            && reply.registration == Registration::Registered
        {
            self.replaced(pid, beat.replaces);
        }
        if let (Request::PublishView { view, .. }, Reply::Done(outcome)) =
            (&request, &response.reply)
            && *outcome == baton_core::protocol::Outcome::Applied
        {
            let version = view.version;
            self.fact(&Fact::ViewStored(version));
        }
        if response.stale {
            self.coverage.fault(Fault::StaleReplica);
        }
        if let Some(hint) = response.hint {
            self.push_hint(&hint);
        }
        let is_cut = self.cuts.has(NetworkCut::FromStore, pid.slot);
        if let Some(reply_delay) = reply_delay.filter(|_| !is_cut) {
            let delivery = Delivery::Replied(id, Box::new(response.reply), response.stale);
            self.queue.push(self.now + reply_delay, Event::Deliver(pid, delivery));
        }
    }

    /// The store took in a beat that may replace the record of this process, if it lives.
    fn replaced(&mut self, by: ProcessId, boot: Option<BootId>) {
        let living = self.processes().into_iter().find(|other| Some(other.boot) == boot);
        let after = self.process(by).map(|process| self.now.since(process.started_at));
        if let Some((living, after)) = living.zip(after) {
            self.fact(&Fact::RecordReplaced { by, living, after });
        }
    }

    /// Tells the checkers how the record changed.
    pub(super) fn lease_changed(&mut self, pid: ProcessId, sent: Moment, change: &LeaseChange) {
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let (expired, cause) = (change.expired, change.cause);
        if let Some(after) = after
            && matches!(cause, ChangeCause::Acquire { .. } | ChangeCause::Renew)
        {
            let epoch = after.version.epoch;
            self.fact(&Fact::LeaseApplied { pid, epoch, sent });
        }
        self.fact(&Fact::LeaseChanged { before, after, expired, cause });
    }

    /// The store pushes a hint to every process, as far as it gets.
    fn push_hint(&mut self, hint: &Hint) {
        if !self.plan.push {
            return;
        }
        for pid in self.processes() {
            if !self.cuts.has(NetworkCut::FromStore, pid.slot) {
                self.send_hint(pid, hint.clone());
            }
        }
    }

    /// A node passes a hint to another, if it is heard there.
    pub(super) fn send_to_node(&mut self, from: ProcessId, to: &NodeId, hint: &Hint) {
        for pid in self.processes() {
            if self.machines[pid.slot].node == *to && self.cuts.reaches(from.slot, pid.slot) {
                self.send_hint(pid, hint.clone());
            }
        }
    }

    /// A hint may be lost, or come so late that others overtake it.
    pub(super) fn send_hint(&mut self, pid: ProcessId, hint: Hint) {
        if self.chance_of(Fault::LostHint, 3) {
            self.coverage.fault(Fault::LostHint);
            return;
        }
        let mut span = self.one_way();
        if self.chance_of(Fault::ReorderedHint, 3) {
            self.coverage.fault(Fault::ReorderedHint);
            span = self.rng.span(span, 2 * self.plan.settings.lease_timeout);
        }
        self.queue.push(self.now + span, Event::Deliver(pid, Delivery::Hint(hint)));
    }
}
