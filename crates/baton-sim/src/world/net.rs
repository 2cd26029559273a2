//! The network between nodes and store, and between nodes: latency, loss, cuts.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::ids::{BootId, NodeId};
use baton_core::protocol::{Failure, Hint, Registration, Reply, Request, RequestId};
use baton_core::time::Moment;

use super::store::{Health, Moved};
use super::{Delivery, Event, World};
use crate::fact::{Cause, Fact, Who};
use crate::plan::Fault;

/// A request on its way.
pub struct Message {
    pub who: Who,
    pub id: RequestId,
    pub request: Request,
    /// When it was sent, by the sender's clock.
    pub sent: Moment,
    /// How long the answer takes; `None` if it is lost.
    pub back: Option<Duration>,
    /// How long ago the state was from which the store answers; `None` if it is the present one.
    pub lag: Option<Duration>,
}

/// What does not get through around a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
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
pub struct Cuts(BTreeSet<(Cut, usize)>);

impl Cuts {
    /// Cuts a slot off in some ways.
    pub fn cut(&mut self, slot: usize, cuts: &[Cut]) {
        self.0.extend(cuts.iter().map(|cut| (*cut, slot)));
    }

    /// Is a slot cut off in this way?
    pub fn has(&self, cut: Cut, slot: usize) -> bool {
        self.0.contains(&(cut, slot))
    }

    /// Does a firewall refuse this dial?
    pub fn refuses(&self, from: usize, to: usize) -> bool {
        from != to && self.has(Cut::Dials, to)
    }

    /// Mends everything around a slot.
    pub fn mend(&mut self, slot: usize) {
        self.0.retain(|(_, cut_off)| *cut_off != slot);
    }

    /// Can these two nodes talk to each other, both ways?
    pub fn joined(&self, one: usize, other: usize) -> bool {
        self.hears(one, other) && self.hears(other, one)
    }

    /// Does what the one says reach the other?
    pub fn hears(&self, from: usize, to: usize) -> bool {
        let silent = self.has(Cut::Unheard, from) || self.has(Cut::Nodes, from);
        from == to || !(silent || self.has(Cut::Nodes, to))
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
    pub(super) fn send(&mut self, who: Who, id: RequestId, sent: Moment, request: Request) {
        if self.cuts.has(Cut::ToStore, who.slot) {
            return;
        }
        let (mut out, mut back) = (self.one_way(), Some(self.one_way()));
        let mut lag = None;
        let fault = self.message_fault();
        let tail = self.plan.latency.tail;
        if let Some(fault) = fault.filter(|fault| *fault != Fault::StaleReplica) {
            self.coverage.fault(fault);
        }
        match fault {
            Some(Fault::SlowMessage) if self.rng.one_in(2) => out = self.rng.span(out, tail),
            Some(Fault::SlowMessage) => back = back.map(|back| self.rng.span(back, tail)),
            Some(Fault::LostRequest) => return,
            Some(Fault::LostReply) => back = None,
            Some(Fault::Throttle) => {
                let at = self.now + out + back.unwrap_or_default();
                self.fail(at, who, id, Failure::NotDone);
                return;
            }
            Some(Fault::Reset) => {
                self.fail(self.now + out, who, id, Failure::Unknown);
                if self.rng.one_in(2) {
                    return;
                }
                back = None;
            }
            Some(Fault::StaleReplica) => {
                let longest = self.plan.settings.lease_timeout / 2;
                lag = Some(self.rng.span(Duration::ZERO, longest));
            }
            Some(Fault::Duplicate) => {
                let late = self.now + self.rng.span(out, tail);
                let (request, back) = (request.clone(), Some(self.one_way()));
                let copy = Message { who, id, request, sent, back, lag: None };
                self.queue.push(late, Event::AtStore(Box::new(copy)));
            }
            _ => {}
        }
        let message = Message { who, id, request, sent, back, lag };
        self.queue.push(self.now + out, Event::AtStore(Box::new(message)));
    }

    fn fail(&mut self, at: crate::clock::True, who: Who, id: RequestId, failure: Failure) {
        self.queue.push(at, Event::Deliver(who, Delivery::Failed(id, failure)));
    }

    /// A request reaches the store.
    pub(super) fn reach_store(&mut self, message: Box<Message>) {
        let Message { who, id, request, sent, back, lag } = *message;
        match self.store.health {
            Health::Up => {}
            Health::Silent => return,
            Health::Refusing => {
                if let Some(back) = back {
                    self.fail(self.now + back, who, id, Failure::NotDone);
                }
                return;
            }
        }
        let served = self.store.serve(self.now, &request, lag);
        self.trace.line(self.now, || {
            format!("store {} of node {}: {:?}", request.kind(), who.slot, served.reply)
        });
        if let Some(moved) = served.moved {
            self.lease_moved(who, sent, &moved);
            if matches!(moved.cause, Cause::Acquire { .. }) {
                self.threaten_grant();
            }
        }
        if let (Request::Beat(beat), Reply::Beat(reply)) = (&request, &served.reply)
            && reply.registration == Registration::Registered
        {
            self.replaced(who, beat.replaces);
        }
        if let (Request::PublishView { view, .. }, Reply::Done(outcome)) = (&request, &served.reply)
            && *outcome == baton_core::protocol::Outcome::Applied
        {
            let version = view.version;
            self.fact(&Fact::ViewStored(version));
        }
        if served.stale {
            self.coverage.fault(Fault::StaleReplica);
        }
        if let Some(hint) = served.hint {
            self.push_hint(&hint);
        }
        if let Some(back) = back.filter(|_| !self.cuts.has(Cut::FromStore, who.slot)) {
            let delivery = Delivery::Replied(id, Box::new(served.reply), served.stale);
            self.queue.push(self.now + back, Event::Deliver(who, delivery));
        }
    }

    /// The store took in a beat that may replace the record of this process, if it lives.
    fn replaced(&mut self, by: Who, boot: Option<BootId>) {
        let living = self.processes().into_iter().find(|other| Some(other.boot) == boot);
        let after = self.process(by).map(|process| self.now.since(process.born));
        if let Some((living, after)) = living.zip(after) {
            self.fact(&Fact::Replaced { by, living, after });
        }
    }

    /// Tells the checkers how the record changed.
    pub(super) fn lease_moved(&mut self, who: Who, sent: Moment, moved: &Moved) {
        let (before, after) = (moved.before.as_ref(), moved.after.as_ref());
        let (expired, cause) = (moved.expired, moved.cause);
        if let Some(after) = after
            && matches!(cause, Cause::Acquire { .. } | Cause::Renew)
        {
            let epoch = after.version.epoch;
            self.fact(&Fact::Applied { who, epoch, sent });
        }
        self.fact(&Fact::LeaseMoved { before, after, expired, cause });
    }

    /// The store pushes a hint to every process, as far as it gets.
    fn push_hint(&mut self, hint: &Hint) {
        if !self.plan.push {
            return;
        }
        for who in self.processes() {
            if !self.cuts.has(Cut::FromStore, who.slot) {
                self.send_hint(who, hint.clone());
            }
        }
    }

    /// A node passes a hint to another, if it is heard there.
    pub(super) fn send_to_node(&mut self, from: Who, to: &NodeId, hint: &Hint) {
        for who in self.processes() {
            if self.slots[who.slot].node == *to && self.cuts.hears(from.slot, who.slot) {
                self.send_hint(who, hint.clone());
            }
        }
    }

    /// A hint may be lost, or come so late that others overtake it.
    pub(super) fn send_hint(&mut self, who: Who, hint: Hint) {
        if self.chance_of(Fault::LostHint, 3) {
            self.coverage.fault(Fault::LostHint);
            return;
        }
        let mut span = self.one_way();
        if self.chance_of(Fault::ReorderedHint, 3) {
            self.coverage.fault(Fault::ReorderedHint);
            span = self.rng.span(span, 2 * self.plan.settings.lease_timeout);
        }
        self.queue.push(self.now + span, Event::Deliver(who, Delivery::Hint(hint)));
    }
}
