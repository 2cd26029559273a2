//! Resigning: work is told to stop, proved stopped, and only then is the record released.
//!
//! ```text
//!   stop_term ──► StopTerm ──► (work stops) ──► TermStopped ──► Release ──► Follower
//!                    │                                             │
//!                    └── not stopped by the hard deadline:         └── outcome unknown: look,
//!                        reported, released once it is proved          and try again if still ours
//! ```
//!
//! The work has `stop_grace` to stop, whatever the reason, and less where the window ends sooner.

use crate::action::Action;
use crate::core::Core;
use crate::event::{DemotionReason, Event};
use crate::ids::{Epoch, NodeId};
use crate::planted::planted;
use crate::protocol::{Hint, Outcome, Release, ReleaseReason, Request, Version};
use crate::time::Moment;
use crate::timer::Timer;

use super::leading::Stage;

impl Core {
    /// Gives leadership up of its own will, if this node leads. Names the successor that was asked
    /// for, or else the best one.
    pub(crate) fn hand_over(&mut self, now: Moment, reason: ReleaseReason, to: Option<NodeId>) {
        let leads = self.term().is_some_and(super::leading::Term::is_renewing);
        if !leads {
            return;
        }
        let successor = to.or_else(|| self.first_successor());
        self.stop_term(now, DemotionReason::Released(reason), true, successor);
    }

    /// Ends the term: tells its work to stop, or releases at once if none was started.
    pub(crate) fn stop_term(
        &mut self,
        now: Moment,
        reason: DemotionReason,
        release: bool,
        successor: Option<NodeId>,
    ) {
        let Some(term) = self.term() else { return };
        if !term.is_renewing() {
            return;
        }
        let (epoch, window) = (term.epoch(), term.window);
        let (started, endless) = (term.stage == Stage::Running, window.hard == Moment::NEVER);
        // A stop asked for early in the window does not take until its end.
        let by = window.hard.min(now + self.settings.stop_grace);
        let release_reason = release.then_some(match reason {
            DemotionReason::Released(reason) => reason,
            DemotionReason::Superseded => ReleaseReason::Superseded,
            _ => ReleaseReason::WindowClosed,
        });
        self.cancel_timer(Timer::Soft);
        self.emit(Event::CoordinatorDemoted { epoch, reason });
        if !started {
            self.finish_stop(now, release_reason, successor);
            return;
        }
        self.out.push(Action::StopTerm { epoch, reason, by });
        if planted!(ReleaseBeforeStop) && !endless {
            self.finish_stop(now, release_reason, successor);
            return;
        }
        if let Some(term) = self.term.as_mut() {
            term.stage = Stage::Stopping { release: release_reason, successor, overran: false };
        }
    }

    /// The runtime proved that nothing of the term runs any more.
    pub(crate) fn term_stopped(&mut self, now: Moment, epoch: Epoch) {
        let Some(term) = self.term() else { return };
        if term.epoch() != epoch {
            return;
        }
        if let Stage::Stopping { release, successor, .. } = term.stage.clone() {
            self.finish_stop(now, release, successor);
        }
    }

    fn finish_stop(
        &mut self,
        now: Moment,
        release: Option<ReleaseReason>,
        successor: Option<NodeId>,
    ) {
        let Some(reason) = release.filter(|_| self.settings.enabled) else {
            self.end_term(now);
            return;
        };
        if let Some(term) = self.term.as_mut() {
            term.stage = Stage::Releasing { reason, successor };
        }
        self.send_release();
    }

    /// Sends the release, unless one is under way or a renewal is still out: the renewal's outcome
    /// decides which version there is to release.
    pub(crate) fn send_release(&mut self) {
        let Some(term) = self.term() else { return };
        let Stage::Releasing { reason, successor } = term.stage.clone() else {
            return;
        };
        if self.in_flight.release.is_some() || self.in_flight.renewal_is_out() {
            return;
        }
        let expect = term.version;
        self.release(expect, successor, reason);
    }

    /// The store still shows a term of this process that is over: give it back, so that no node
    /// has to wait for its expiry.
    pub(crate) fn release_leftover(&mut self, version: Version, reason: ReleaseReason) {
        if self.in_flight.release.is_none() {
            self.release(version, None, reason);
        }
    }

    fn release(&mut self, expect: Version, successor: Option<NodeId>, reason: ReleaseReason) {
        let nonce = self.attempts.next_nonce(self.me.boot);
        let request =
            Request::Release(Release { expect, nonce, successor: successor.clone(), reason });
        let id = self.send(request);
        let left = Version { epoch: expect.epoch, nonce };
        self.in_flight.release = Some((id, left, successor));
    }

    /// What became of the release.
    pub(crate) fn release_done(
        &mut self,
        now: Moment,
        outcome: Outcome,
        version: Version,
        successor: Option<NodeId>,
    ) {
        let releasing = matches!(self.term().map(|t| &t.stage), Some(Stage::Releasing { .. }));
        match outcome {
            Outcome::Applied => {}
            // The record is not at the version held. Should it still name this process, the next
            // look shows it, and it is given back as a leftover.
            Outcome::Conflict if releasing => return self.end_term(now),
            Outcome::Conflict => return,
            // The next look shows whether the record is still ours, and sends it again if so.
            Outcome::Unknown => return self.beat_soon(now),
        }
        self.in_flight.left_to.clone_from(&successor);
        if let Some(to) = successor.clone() {
            self.out.push(Action::Tell { to, hint: Hint::Released { version, successor } });
        }
        if releasing {
            self.end_term(now);
        }
    }

    /// The term is over and nothing of it runs.
    pub(crate) fn end_term(&mut self, now: Moment) {
        if let Some(term) = self.term.take() {
            self.last_ended = self.last_ended.max(term.epoch());
        }
        self.cancel_timer(Timer::Soft);
        self.cancel_timer(Timer::Hard);
        self.draw_tail_delay();
        if self.settings.enabled && !self.leaving {
            self.beat_soon(now);
        }
    }

    /// Leaves the cluster: first the term, then the registry.
    pub(crate) fn leave(&mut self, now: Moment) {
        self.leaving = true;
        if self.settings.enabled && self.serving && self.partitions.report().is_some() {
            // It shows as draining: its partitions are to go to others before it stops.
            self.beat_soon(now);
        }
        self.hand_over(now, ReleaseReason::Shutdown, None);
    }

    /// Leaves the registry once neither a term is left nor a service, nor a beat that would
    /// register the node again or whose grant would have to be given back; and stops for good after
    /// that.
    pub(crate) fn mind_leave(&mut self) {
        let sent = &self.in_flight;
        let waits = sent.beat.is_some() || sent.release.is_some() || sent.removal.is_some();
        if self.term().is_some() || self.serving || waits {
            return;
        }
        if self.registered && !self.superseded && !self.left {
            if self.in_flight.leave.is_none() {
                let request = Request::Leave { node: self.me.id.clone(), boot: self.me.boot };
                self.in_flight.leave = Some(self.send(request));
            }
            return;
        }
        if !std::mem::replace(&mut self.halted, true) {
            self.out.push(Action::Halt);
        }
    }
}
