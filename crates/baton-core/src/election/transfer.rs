//! Transfer and forced election: leadership moves on request.
//!
//! A follower passes the request on by writing it beside the lease; the leader finds it with its
//! next beat. A node that the leader does not know as a candidate may have joined a moment ago, so
//! the leader reads the records before it refuses:
//!
//! ```text
//!   transfer ──► a candidate in the registry? ── yes ──────────────────────────► hand over
//!                      │ no                                                         ▲
//!                      └─► read the records ──► a candidate now? ── yes ────────────┘
//!                                                     └─ no, or unreadable ──► TransferRefused
//! ```
//!
//! What the leader refuses it tells at its own node, so a process that asks from elsewhere looks
//! first: [`foresee_refusal`](crate::foresee_refusal).

use crate::action::Action;
use crate::core::Core;
use crate::event::Event;
use crate::ids::NodeId;
use crate::protocol::{Ask, HandoverKind, Hint, ReleaseReason, Request};
use crate::refusal::TransferRefusal;
use crate::time::Moment;

use super::leading::Term;

/// A transfer to a node that is not known as a candidate: decided once the records are read.
#[derive(Clone, Debug, Hash)]
pub struct DoubtfulTransfer {
    to: NodeId,
    /// Was a reading under way already? It may have begun before the node joined.
    reads_already: bool,
}

impl Core {
    /// Moves leadership to a named node.
    pub(crate) fn transfer(&mut self, now: Moment, to: NodeId) {
        if self.term().is_some_and(Term::is_renewing) {
            match self.refuse_transfer(now, &to) {
                None => self.start_transfer(now, to),
                Some(reason @ TransferRefusal::LeadsAlready) => {
                    self.emit(Event::TransferRefused { to, reason });
                }
                Some(_) => {
                    let reads_already = self.in_flight.members.is_some();
                    self.transfer_in_doubt = Some(DoubtfulTransfer { to, reads_already });
                    self.read_members(now);
                }
            }
        } else if self.observed.is_live(now) {
            self.ask(HandoverKind::Transfer(to));
        } else {
            self.emit(Event::TransferRefused { to, reason: TransferRefusal::NoCoordinator });
        }
    }

    /// The records were read, or could not be: decides about the transfer that waited for it.
    pub(crate) fn decide_transfer(&mut self, now: Moment) {
        let Some(DoubtfulTransfer { to, reads_already }) = self.transfer_in_doubt.take() else {
            return;
        };
        if !self.term().is_some_and(Term::is_renewing) {
            return;
        }
        if reads_already {
            self.transfer_in_doubt = Some(DoubtfulTransfer { to, reads_already: false });
            return self.read_members(now);
        }
        match self.refuse_transfer(now, &to) {
            None => self.start_transfer(now, to),
            Some(reason) => self.emit(Event::TransferRefused { to, reason }),
        }
    }

    fn start_transfer(&mut self, now: Moment, to: NodeId) {
        let Some(epoch) = self.term().map(Term::epoch) else {
            return;
        };
        self.out.push(Action::Tell { to: to.clone(), hint: Hint::Prepare { epoch } });
        self.emit(Event::TransferStarted { epoch, to: to.clone() });
        self.hand_over(now, ReleaseReason::Transferred, Some(to));
    }

    fn refuse_transfer(&self, now: Moment, to: &NodeId) -> Option<TransferRefusal> {
        if *to == self.me.id {
            return Some(TransferRefusal::LeadsAlready);
        }
        self.registry.refuses(now, to)
    }

    /// Sees to it that there is a leader.
    pub(crate) fn ensure_coordinator(&mut self, now: Moment, force: bool, to: Option<NodeId>) {
        let leads = self.term().is_some_and(Term::is_renewing);
        let leader = if leads { Some(self.me.id.clone()) } else { self.leader(now).cloned() };
        match (leader, force, to) {
            (Some(leader), _, Some(to)) if leader == to => {}
            (Some(_), _, Some(to)) => self.transfer(now, to),
            (Some(_), true, None) => self.resign(now),
            (Some(_), false, None) => {}
            (None, _, to) => {
                if let Some(to) = to.filter(|to| *to != self.me.id) {
                    let reason = TransferRefusal::NoCoordinator;
                    self.emit(Event::TransferRefused { to, reason });
                }
                self.beat_soon(now);
            }
        }
    }

    /// Gives leadership up, or asks the leader to.
    pub(crate) fn resign(&mut self, now: Moment) {
        if self.term().is_some_and(Term::is_renewing) {
            self.hand_over(now, ReleaseReason::Resigned, None);
        } else if self.observed.is_live(now) {
            self.ask(HandoverKind::Resign);
        }
    }

    fn ask(&mut self, wish: HandoverKind) {
        if self.in_flight.ask.is_none() {
            let ask = Ask { nonce: self.attempts.next_nonce(self.me.boot), wish };
            let request = Request::Ask { epoch: self.observed.epoch(), ask };
            self.in_flight.ask = Some(self.send(request));
        }
    }

    /// The leader found a request beside its lease. The same one is heeded once.
    pub(crate) fn asked_to_hand_over(&mut self, now: Moment, ask: &Ask) {
        let leads = self.term().is_some_and(Term::is_renewing);
        if !leads || self.heeded_ask == Some(ask.nonce) {
            return;
        }
        self.heeded_ask = Some(ask.nonce);
        match &ask.wish {
            HandoverKind::Resign => self.hand_over(now, ReleaseReason::Resigned, None),
            HandoverKind::Transfer(to) => self.transfer(now, to.clone()),
        }
    }
}
