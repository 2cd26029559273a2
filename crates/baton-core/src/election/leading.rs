//! Leading: what this node holds, from the grant to the soft deadline.

use std::time::Duration;

use crate::action::Action;
use crate::core::Core;
use crate::event::{DemotionReason, Event, Phase};
use crate::ids::{Epoch, NodeId};
use crate::lease::Window;
use crate::planted::planted;
use crate::protocol::{LeaseSnapshot, Outcome, ReleaseReason, Version};
use crate::time::{Moment, whole_ms};
use crate::timer::Timer;

use super::mandate::{Mandate, MandateReview};

/// One unbroken holding of the lease: the record names this very process, or did until lately.
#[derive(Clone, Debug, Hash)]
pub struct Term {
    /// The record as last seen; its epoch is the term's.
    pub version: Version,
    /// Until when the term may act.
    pub window: Window,
    /// How far it is.
    pub stage: Stage,
    /// How long it is protected.
    pub mandate: Mandate,
}

/// How far a term is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Granted, but too little of the window is left to start: a renewal opens it.
    Opening,
    /// Open, but the cold start's preparation is not over.
    Preparing,
    /// Its work runs, or starts.
    Running,
    /// Its work was told to stop. Not renewed any more.
    Stopping {
        /// Release the record once the work is proved stopped?
        release: Option<ReleaseReason>,
        /// Whom to name.
        successor: Option<NodeId>,
        /// Was the end of the window told?
        overran: bool,
    },
    /// Its work is proved stopped; the record is being released.
    Releasing {
        /// Why.
        reason: ReleaseReason,
        /// Whom to name.
        successor: Option<NodeId>,
    },
}

impl Term {
    /// The term's fencing number.
    pub fn epoch(&self) -> Epoch {
        self.version.epoch
    }

    /// Is the term still being renewed?
    pub fn is_renewing(&self) -> bool {
        matches!(self.stage, Stage::Opening | Stage::Preparing | Stage::Running)
    }

    /// Could work of this term be running?
    pub fn is_active(&self) -> bool {
        matches!(self.stage, Stage::Preparing | Stage::Running | Stage::Stopping { .. })
    }
}

impl Core {
    /// The term, if this node holds one.
    pub(crate) fn term(&self) -> Option<&Term> {
        self.term.as_ref()
    }

    /// The term whose work runs, or starts.
    pub(crate) fn running_epoch(&self) -> Option<Epoch> {
        self.term().filter(|term| term.stage == Stage::Running).map(Term::epoch)
    }

    /// Before anything else is looked at: has a deadline passed? Time may have jumped while the
    /// process was paused, and the timers with it.
    pub(crate) fn mind_deadlines(&mut self, now: Moment) {
        if planted!(BreakerHoldsDeadline) && self.in_flight.breaker.opens_at().is_some() {
            return;
        }
        let Some(term) = self.term() else { return };
        let (epoch, window) = (term.epoch(), term.window);
        let stop_at = if planted!(SoftDeadlineIgnored) { window.hard } else { window.soft };
        match term.stage {
            Stage::Opening => {}
            Stage::Preparing | Stage::Running if now >= stop_at => {
                if !planted!(ResumeAfterFencing) {
                    self.stop_term(now, DemotionReason::WindowClosed, true, None);
                    self.mind_deadlines(now);
                }
            }
            Stage::Preparing | Stage::Running => {}
            Stage::Stopping { overran: false, .. } if now >= window.hard => {
                self.mark_overran();
                self.emit(Event::LeaseLost { epoch, reason: DemotionReason::WindowClosed });
                self.emit(Event::TermOverran { epoch });
            }
            Stage::Stopping { .. } => {}
            // Nothing runs any more; what the release could not do, the expiry does.
            Stage::Releasing { .. } if now >= window.hard => self.end_term(now),
            Stage::Releasing { .. } => {}
        }
    }

    fn mark_overran(&mut self) {
        if let Some(Term { stage: Stage::Stopping { overran, .. }, .. }) = self.term.as_mut() {
            *overran = true;
        }
    }

    /// The record names this process: begin the term. `sent` is when the write that made it so was
    /// first sent, if that is known.
    pub(crate) fn take_up(&mut self, now: Moment, version: Version, sent: Option<Moment>) {
        let window = sent.map_or(Window::CLOSED, |sent| self.lease_terms.window(sent));
        let mandate = Mandate::begin(now);
        self.registry.clear();
        self.partitions.term_begins();
        self.heeded_ask = None;
        self.in_flight.views_sent = 0;
        self.in_flight.views_refused = 0;
        self.term = Some(Term { version, window, stage: Stage::Opening, mandate });
        self.cancel_timer(Timer::Takeover);
        let took = now.since(self.campaigning_since.take().unwrap_or(now));
        self.metrics.report.election_duration_ms = whole_ms(took);
        self.emit(Event::CoordinatorElected {
            epoch: version.epoch,
            mandate_ms: whole_ms(self.settings.max_epoch_duration),
            active: self.view.as_ref().map_or(1, |view| view.members.len()),
        });
        self.open_term(now);
    }

    /// Starts the term's work once its window is open and the preparation is over.
    pub(crate) fn open_term(&mut self, now: Moment) {
        let settings = self.settings.clone();
        let phase = self.cold_start.phase;
        let Some(term) = self.term.as_mut() else { return };
        if !matches!(term.stage, Stage::Opening | Stage::Preparing) {
            return;
        }
        if !term.window.may_start(now) {
            self.beat_soon(now);
            return;
        }
        let (epoch, window) = (term.epoch(), term.window);
        let delay = settings.cold_start_preparation_delay;
        if phase == Phase::Election && !delay.is_zero() && !settings.skip_cold_start {
            term.stage = Stage::Preparing;
            self.enter_phase(now, Phase::Preparing);
            self.set_timer(Timer::ColdStart, now + delay);
            self.set_deadlines(window);
            return;
        }
        if phase == Phase::Preparing && now.since(term.mandate.began) < delay {
            return;
        }
        term.stage = Stage::Running;
        self.enter_phase(now, Phase::Ready);
        self.set_deadlines(window);
        self.out.push(Action::StartTerm { epoch, window });
        self.emit(Event::CoordinatorPromoted { epoch });
        self.in_flight.read_cadence.is_still = false;
        if self.settings.enabled {
            self.read_members(now);
        }
    }

    /// The clock stood still for a while. What was counted from a send is over this much sooner, so
    /// the term stops if its window is closed by now, and goes on once a renewal came through.
    pub(crate) fn clock_leapt(&mut self, now: Moment, by: Duration) {
        if planted!(FreezeIgnored) {
            return;
        }
        self.attempts.date_back(by);
        self.partitions.date_back(now, by);
        let Some(term) = self.term.as_mut() else { return };
        term.window = term.window.earlier(by);
        let (window, active) = (term.window, term.is_active());
        if active {
            self.set_deadlines(window);
        }
        self.mind_deadlines(now);
        if self.settings.enabled {
            self.beat_soon(now);
        }
    }

    fn set_deadlines(&mut self, window: Window) {
        self.set_timer(Timer::Soft, window.soft);
        self.set_timer(Timer::Hard, window.hard);
    }

    /// The store showed the lease while this node holds a term.
    pub(crate) fn holder_saw_lease(
        &mut self,
        now: Moment,
        lease: Option<&LeaseSnapshot>,
        outcome: Option<Outcome>,
    ) {
        let Some(term) = self.term() else { return };
        let epoch = term.epoch();
        let ours = lease.filter(|l| self.is_ours(l) && l.version.epoch == epoch);
        let Some(lease) = ours else {
            let higher = lease.map(|l| l.version.epoch).filter(|&stored| stored > epoch);
            let reason = higher.map_or(DemotionReason::LeaseGone, DemotionReason::HigherEpoch);
            self.lose_term(now, reason);
            return;
        };
        let refused = outcome == Some(Outcome::Conflict);
        let expired = lease.expiry == crate::protocol::Expiry::Left(std::time::Duration::ZERO);
        // An unopened grant may have had successors in data that the store has lost.
        let lost = self.observed.suspect_until().is_some() && term.stage == Stage::Opening;
        if lost || (refused && expired && term.is_renewing()) {
            self.lose_term(now, DemotionReason::LeaseGone);
            return;
        }
        let sent = self.attempts.sent_at(lease.version.nonce);
        let sent = if planted!(TrustFromReply) { sent.map(|_| now) } else { sent };
        let (version, asked) = (lease.version, lease.asked.clone());
        self.extend_term(now, version, sent);
        if refused {
            self.beat_soon(now);
        }
        if let Some(ask) = asked {
            self.asked_to_hand_over(now, &ask);
        }
    }

    /// A write of this term is known to have taken place; it was first sent at `sent`.
    pub(crate) fn extend_term(&mut self, now: Moment, version: Version, sent: Option<Moment>) {
        let lease_terms = self.lease_terms;
        let Some(term) = self.term.as_mut() else { return };
        term.version = version;
        if !term.is_renewing() {
            return;
        }
        if let Some(sent) = sent {
            let longer = lease_terms.window(sent);
            if longer.hard > term.window.hard {
                term.window = longer;
            }
        }
        let (opening, window) = (term.stage == Stage::Opening, term.window);
        if opening {
            self.open_term(now);
        } else {
            self.set_deadlines(window);
        }
    }

    /// Another process holds the lease, or none does.
    fn lose_term(&mut self, now: Moment, reason: DemotionReason) {
        if planted!(ConflictKeepsLeading) {
            return;
        }
        let Some(term) = self.term() else { return };
        let epoch = term.epoch();
        if term.is_renewing() {
            self.emit(Event::LeaseLost { epoch, reason });
            self.stop_term(now, reason, false, None);
            return;
        }
        match self.term.as_mut().map(|term| &mut term.stage) {
            Some(Stage::Stopping { release, .. }) => *release = None,
            Some(Stage::Releasing { .. }) => self.end_term(now),
            _ => {}
        }
    }

    /// A renewal came through: time to look at the mandate and at the members.
    pub(crate) fn term_renewed(&mut self, now: Moment) {
        let better = self.preferred_successor();
        let settings = self.settings.clone();
        let Some(term) = self.term.as_mut() else { return };
        let epoch = term.epoch();
        match term.mandate.review(now, &settings, better) {
            MandateReview::Keep => {}
            MandateReview::Renewed => {
                let mandate_ms = whole_ms(settings.max_epoch_duration);
                self.emit(Event::CoordinatorEpochRenewed { epoch, mandate_ms });
            }
            MandateReview::YieldTo(node) => {
                self.hand_over(now, ReleaseReason::Preempted, Some(node));
                return;
            }
        }
        self.read_members_if_due(now);
    }

    /// Does this snapshot name this very process?
    pub(crate) fn is_ours(&self, lease: &LeaseSnapshot) -> bool {
        if planted!(BootIdIgnored) {
            return lease.holder.as_ref().is_some_and(|holder| holder.node == self.me.id);
        }
        lease.is_held_by(self.me.boot)
    }
}
