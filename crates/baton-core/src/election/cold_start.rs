//! Cold start: a node that finds no leader watches for a moment who else starts, so that the
//! policy has something to choose from.
//!
//! A node that finds a live leader skips all of it, and so does one that finds the lease of a
//! leader that is proved dead: a line of successors was there a moment ago. So does a node that was
//! alone in the last view, and published it itself in an earlier life.

use crate::core::Core;
use crate::event::{Event, Phase};
use crate::protocol::{Member, Request};
use crate::time::{Moment, whole_ms};
use crate::timer::Timer;

use super::policy::Candidate;

/// How far the cold start has come.
#[derive(Clone, Debug, Default, Hash)]
pub struct ColdStart {
    pub(crate) phase: Phase,
    /// Since when it is in this phase.
    pub(crate) since: Moment,
    watching: bool,
    /// Since when this node may stand for election at all.
    pub(crate) may_stand_since: Option<Moment>,
    /// This node's place among those that started with it.
    pub(crate) rank: Option<u32>,
}

impl Core {
    pub(crate) fn enter_phase(&mut self, now: Moment, phase: Phase) {
        if self.cold_start.phase == phase {
            return;
        }
        let waited_ms = whole_ms(now.since(self.cold_start.since));
        self.cold_start.phase = phase;
        self.cold_start.since = now;
        if phase == Phase::Ready {
            self.cold_start.rank = None;
        }
        self.emit(Event::ColdStartPhaseChanged { phase, waited_ms });
    }

    /// The lease was looked at: a live one ends the cold start, its absence starts the watch.
    pub(crate) fn cold_start_saw_lease(&mut self, now: Moment) {
        let ours = self.observed.lease().is_some_and(|lease| self.is_ours(lease));
        if self.cold_start.phase == Phase::Ready || ours {
            return;
        }
        if self.observed.is_unexpired(now) {
            self.cold_start.may_stand_since.get_or_insert(now);
            self.cancel_timer(Timer::ColdStart);
            self.enter_phase(now, Phase::Ready);
        } else if self.settings.skip_cold_start {
            self.cold_start.rank.get_or_insert(0);
            self.cold_start.may_stand_since.get_or_insert(now);
            self.enter_phase(now, Phase::Election);
        } else if !self.cold_start.watching {
            self.cold_start.watching = true;
            self.cold_start.since = now;
            let at = now + self.settings.cold_start_observation_window;
            self.set_timer(Timer::ColdStart, at);
        }
    }

    /// The last view is known. If this node's past self published it, in the last term, and had no
    /// successor, there is no other node to wait for.
    pub(crate) fn cold_start_saw_view(&mut self, now: Moment) {
        if self.cold_start.phase != Phase::Observing || !self.cold_start.watching {
            return;
        }
        let last = self.view.as_deref().filter(|view| view.version.epoch == self.observed.epoch());
        if last.is_some_and(|view| view.successors.is_empty() && self.is_by_past_self(view)) {
            self.cold_start.may_stand_since.get_or_insert(now);
            self.cancel_timer(Timer::ColdStart);
            self.enter_phase(now, Phase::Ready);
        }
    }

    /// The observation window is over, or the preparation delay.
    pub(crate) fn cold_start_due(&mut self, now: Moment) {
        match self.cold_start.phase {
            Phase::Observing => self.read_members(now),
            Phase::Preparing => self.open_term(now),
            Phase::Election | Phase::Ready => {}
        }
    }

    /// Who is there is known: find this node's place among them and stand for election.
    pub(crate) fn cold_start_members(&mut self, now: Moment, members: &[Member]) {
        if self.cold_start.phase != Phase::Observing || !self.cold_start.watching {
            return;
        }
        let timeout = self.settings.worker_timeout;
        let live = |m: &&Member| m.silent_for.is_none_or(|silent| silent < timeout);
        let mut candidates: Vec<Candidate> = members
            .iter()
            .filter(live)
            .filter(|member| member.record.eligible && !member.record.draining)
            .map(|member| Candidate {
                id: member.record.id.clone(),
                priority: member.record.profile.priority,
                arrival: u64::MAX - member.record.beat,
            })
            .collect();
        candidates.sort_by(|a, b| self.settings.policy.compare(a, b));
        let place = candidates.iter().position(|candidate| candidate.id == self.me.id);
        self.cold_start.rank = place.map(|rank| rank as u32);
        self.cold_start.may_stand_since = Some(now);
        self.enter_phase(now, Phase::Election);
    }

    /// The members could not be read: the next beat's reply asks again.
    pub(crate) fn cold_start_unread(&mut self, now: Moment) {
        if self.cold_start.phase == Phase::Observing && self.cold_start.watching {
            self.set_timer(Timer::ColdStart, now + self.settings.request_timeout);
        }
    }

    pub(crate) fn read_members(&mut self, now: Moment) {
        if self.in_flight.members.is_none() {
            self.in_flight.members = Some((self.send(Request::ReadMembers), now));
        }
    }

    /// The records were read; one that came while they were may be missing.
    pub(crate) fn read_again(&mut self, now: Moment) {
        if std::mem::take(&mut self.in_flight.members_again) {
            self.read_members(now);
        }
    }
}
