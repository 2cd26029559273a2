//! The rules, looked at after every step.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::ids::{Epoch, Nonce};
use baton_core::lease::LeaseTerms;
use baton_core::protocol::{Acquire, LeaseIntent, Release, Renew, Reply, Request};
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Action, Command, Input};

use super::driver::{Run, Step};
use crate::harness::boot;

/// What was seen so far of one history.
pub struct Rules {
    terms: LeaseTerms,
    out: BTreeSet<&'static str>,
    sent_at: BTreeMap<Nonce, Moment>,
    started: Vec<Epoch>,
    at_work: Option<Epoch>,
    told_to_stop: bool,
    stands: [bool; 3],
    known: Epoch,
    halted: bool,
}

/// Beats of every intent are one kind: at most one is under way.
fn kind(request: &Request) -> &'static str {
    match request {
        Request::Beat(_) => "beat",
        other => other.kind(),
    }
}

impl Rules {
    pub fn new(terms: LeaseTerms) -> Self {
        Self {
            terms,
            out: BTreeSet::new(),
            sent_at: BTreeMap::new(),
            started: Vec::new(),
            at_work: None,
            told_to_stop: false,
            stands: [true; 3],
            known: Epoch::NONE,
            halted: false,
        }
    }

    pub fn terms_started(&self) -> u64 {
        self.started.len() as u64
    }

    /// Looks at one step.
    pub fn check(&mut self, run: &Run, step: &Step) {
        assert!(!self.halted || step.actions.is_empty(), "nothing follows a halt");
        if let Some(request) = &step.answers {
            self.out.remove(kind(request));
        }
        match &step.input {
            Input::TermStopped { .. } => (self.at_work, self.told_to_stop) = (None, false),
            Input::Command(Command::SetEligible(yes)) => self.stands[0] = *yes,
            Input::Command(Command::SetHealthy(yes)) => self.stands[1] = *yes,
            Input::Command(Command::SetDraining(yes)) => self.stands[2] = !*yes,
            _ => {}
        }
        for action in &step.actions {
            self.check_action(step, action);
        }
        self.check_getters(run, step.now);
    }

    fn check_action(&mut self, step: &Step, action: &Action) {
        match action {
            Action::Send { request, .. } => {
                assert!(self.out.insert(kind(request)), "a second {} is sent", kind(request));
                self.check_request(step.now, request);
            }
            Action::SetTimer { timer: Timer::Soft | Timer::Hard, at } => {
                assert!(*at > step.now, "a deadline in the past: {at:?} at {:?}", step.now);
            }
            Action::StartTerm { epoch, window } => {
                assert!(self.at_work.is_none(), "the last term's work is not proved stopped");
                assert!(self.started.last().is_none_or(|last| last < epoch), "{epoch} again");
                assert!(window.may_start(step.now), "{window:?} at {:?}", step.now);
                self.check_grant(step, *epoch, window.hard);
                self.started.push(*epoch);
                self.at_work = Some(*epoch);
            }
            Action::StopTerm { epoch, .. } => {
                assert_eq!(self.at_work, Some(*epoch), "only work that was started is stopped");
                assert!(!std::mem::replace(&mut self.told_to_stop, true), "{epoch} twice");
            }
            Action::Halt => {
                assert!(self.at_work.is_none(), "work goes on");
                self.halted = true;
            }
            _ => {}
        }
    }

    fn check_request(&mut self, now: Moment, request: &Request) {
        match request {
            Request::Beat(beat) => {
                let nonce = match &beat.lease {
                    LeaseIntent::Observe => return,
                    LeaseIntent::Acquire(Acquire { nonce, .. }) => {
                        assert!(self.stands.iter().all(|stands| *stands), "no candidate claims");
                        assert!(self.at_work.is_none(), "a claim while work goes on");
                        nonce
                    }
                    LeaseIntent::Renew(Renew { nonce, .. }) => {
                        assert!(!self.told_to_stop, "a term that stops is renewed");
                        nonce
                    }
                };
                assert!(self.sent_at.insert(*nonce, now).is_none(), "{nonce:?} is used twice");
            }
            Request::Release(Release { expect, nonce, .. }) => {
                assert_ne!(self.at_work, Some(expect.epoch), "released before its work stopped");
                assert!(self.sent_at.insert(*nonce, now).is_none(), "{nonce:?} is used twice");
            }
            Request::PublishView { fence, view } => {
                assert_eq!(self.at_work, Some(*fence), "a view of a term that does not work");
                assert_eq!(view.version.epoch, *fence);
            }
            _ => {}
        }
    }

    /// A term starts with a reply that shows this process as its holder, and its window counts
    /// from the send of a write that this process made.
    fn check_grant(&self, step: &Step, epoch: Epoch, hard: Moment) {
        let shown = match &step.input {
            Input::Replied { reply: Reply::Beat(reply), .. } => reply.lease.as_ref(),
            _ => None,
        };
        let lease = shown.expect("nothing but an answer that shows the lease starts a term");
        assert!(lease.is_held_by(boot(crate::harness::ME)), "{lease:?}");
        assert_eq!(lease.version.epoch, epoch);
        let sent = self.sent_at.values().any(|sent| *sent + self.terms.trusted_span() == hard);
        assert!(sent, "the window counts from something else than a send");
    }

    fn check_getters(&mut self, run: &Run, now: Moment) {
        let core = &run.core;
        assert!(core.known_epoch() >= self.known, "the known epoch went back");
        self.known = core.known_epoch();
        if let Some((epoch, window)) = core.window(now) {
            assert_eq!(Some(epoch), self.at_work, "a window without work to guard");
            assert!(window.is_open(now));
            let last = self.sent_at.values().max().expect("a window comes from a write");
            assert!(window.hard <= *last + self.terms.trusted_span());
        }
        if core.is_leader(now) {
            assert_eq!(core.held_epoch(), self.at_work);
            assert!(!self.told_to_stop, "leads though it was told to stop");
        }
        assert!(!core.is_leader(now + self.terms.ttl), "no window outlasts a lease");
    }
}
