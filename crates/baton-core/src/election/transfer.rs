//! Transfer and forced election: leadership moves because somebody asks.
//!
//! A follower passes the request on by writing it beside the lease; the coordinator finds it with
//! its next beat. What the coordinator refuses it tells at its own node, so whoever asks from
//! elsewhere looks first: [`foresee_refusal`](crate::foresee_refusal).

use crate::action::Action;
use crate::core::Core;
use crate::event::Event;
use crate::ids::NodeId;
use crate::protocol::{Ask, Hint, ReleaseReason, Request, Wish};
use crate::refusal::TransferRefusal;
use crate::time::Moment;

use super::leading::Term;

impl Core {
    /// Moves leadership to a named node.
    pub(crate) fn transfer(&mut self, now: Moment, to: NodeId) {
        if self.term().is_some_and(Term::is_renewing) {
            match self.refuse_transfer(now, &to) {
                Some(reason) => self.emit(Event::TransferRefused { to, reason }),
                None => self.start_transfer(now, to),
            }
        } else if self.sight.is_live(now) {
            self.ask(Wish::Transfer(to));
        } else {
            self.emit(Event::TransferRefused { to, reason: TransferRefusal::NoCoordinator });
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
        let Some(member) = self.view.as_ref().and_then(|view| view.member(to)) else {
            return Some(self.registry.why_not(now, to));
        };
        match (member.draining, member.candidate) {
            (true, _) => Some(TransferRefusal::Draining),
            (false, false) => Some(TransferRefusal::NotEligible),
            (false, true) => None,
        }
    }

    /// Sees to it that there is a coordinator.
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

    /// Gives leadership up, or asks whoever has it to.
    pub(crate) fn resign(&mut self, now: Moment) {
        if self.term().is_some_and(Term::is_renewing) {
            self.hand_over(now, ReleaseReason::Resigned, None);
        } else if self.sight.is_live(now) {
            self.ask(Wish::Resign);
        }
    }

    fn ask(&mut self, wish: Wish) {
        if self.link.ask.is_none() {
            let ask = Ask { nonce: self.attempts.next_nonce(self.me.boot), wish };
            let request = Request::Ask { epoch: self.sight.epoch(), ask };
            self.link.ask = Some(self.send(request));
        }
    }

    /// The coordinator found a request beside its lease. The same one is heeded once.
    pub(crate) fn asked_to_hand_over(&mut self, now: Moment, ask: &Ask) {
        let leads = self.term().is_some_and(Term::is_renewing);
        if !leads || self.heeded == Some(ask.nonce) {
            return;
        }
        self.heeded = Some(ask.nonce);
        match &ask.wish {
            Wish::Resign => self.hand_over(now, ReleaseReason::Resigned, None),
            Wish::Transfer(to) => self.transfer(now, to.clone()),
        }
    }
}
