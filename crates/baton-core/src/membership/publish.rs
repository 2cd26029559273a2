//! Publishing the view: only when it changed, only under the term's epoch.

use std::sync::Arc;

use crate::core::Core;
use crate::election::policy::Candidate;
use crate::event::Event;
use crate::ids::{Epoch, NodeId};
use crate::membership::registry::Entry;
use crate::planted::planted;
use crate::protocol::{Member, Outcome, ReleaseReason, Request, View, ViewMember, ViewVersion};
use crate::settings::{Policy, Preempt};
use crate::time::Moment;

/// What speaks for a node's being there. A record may be all that is left of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PresenceEvidence {
    /// There is a record.
    Recorded,
    /// The last leader knew of it, or it registered in this term.
    WasThere,
    /// It has beaten in this term.
    HasBeaten,
}

impl PresenceEvidence {
    fn of(entry: &Entry) -> Self {
        match entry {
            Entry { has_beaten: true, .. } => Self::HasBeaten,
            Entry { was_there: true, .. } => Self::WasThere,
            _ => Self::Recorded,
        }
    }
}

impl Core {
    /// The records were read.
    pub(crate) fn members_read(&mut self, now: Moment, sent: Moment, mut members: Vec<Member>) {
        self.cold_start_members(now, &members);
        self.id_holder_is_listed(&members);
        if self.running_epoch().is_none() {
            return self.decide_transfer(now);
        }
        self.hand_reading_over(sent, &members);
        self.take_out_the_dead(&mut members);
        let all_beat = self.all_beat(&members);
        let reports = self.shows_new_reports(&members);
        let changes = self.registry.read(now, members, self.view.as_deref());
        self.metrics.report.worker_registrations += changes.joined.len() as u64;
        self.metrics.report.worker_timeouts += changes.timed_out.len() as u64;
        if reports || !changes.joined.is_empty() {
            self.in_flight.hints.readings.give_back();
        }
        for node in changes.timed_out {
            self.emit(Event::WorkerTimedOut { worker: node });
        }
        for node in changes.dead {
            self.emit(Event::WorkerDead { worker: node });
        }
        self.publish_view();
        self.in_flight.read_cadence.is_still = all_beat && self.in_flight.publish.is_none();
        self.decide_transfer(now);
    }

    /// The records of processes that are proved dead outlive them: they are left out of the line
    /// and taken out of the store, where the next leader would find them, and a restarted node its
    /// past self. One that cannot be taken out now is met again at the next reading.
    fn take_out_the_dead(&mut self, members: &mut Vec<Member>) {
        let is_dead = |member: &mut Member| self.deaths.has(member.record.boot);
        let dead = members.extract_if(.., is_dead).map(|Member { record, .. }| record);
        self.in_flight.dead_records = dead.map(|record| (record.id, record.boot)).collect();
        self.take_out_next();
    }

    /// Takes the next dead process's record out, once the one before it is.
    pub(crate) fn take_out_next(&mut self) {
        if self.in_flight.removal.is_some() || self.leaving || planted!(DeadStayListed) {
            return;
        }
        if let Some((node, boot)) = self.in_flight.dead_records.pop() {
            self.in_flight.removal = Some(self.send(Request::Leave { node, boot }));
        }
    }

    pub(crate) fn publish_view(&mut self) {
        let Some(epoch) = self.running_epoch() else { return };
        if self.in_flight.publish.is_some() {
            return;
        }
        let number = self.in_flight.views_sent + 1;
        let view = self.compose_view(ViewVersion { epoch, number });
        let unchanged = self.view.as_ref().is_some_and(|old| {
            old.version.epoch == epoch
                && old.members == view.members
                && old.successors == view.successors
                && old.certain == view.certain
        });
        if unchanged {
            return;
        }
        let view = Arc::new(view);
        let fence = if planted!(ViewWithoutEpoch) { Epoch(u64::MAX) } else { epoch };
        self.in_flight.views_sent = number;
        let id = self.send(Request::PublishView { fence, view: view.clone() });
        self.in_flight.publish = Some((id, view));
    }

    fn compose_view(&self, version: ViewVersion) -> View {
        let members = self.registry.live().map(|entry| ViewMember {
            id: entry.record.id.clone(),
            boot: entry.record.boot,
            candidate: entry.record.eligible && !entry.record.draining,
            draining: entry.record.draining,
            assignment: self.assignment_of(entry.record.boot),
        });
        let mut candidates: Vec<_> = self.candidates().collect();
        candidates.sort_by(|(a, a_there), (b, b_there)| {
            b_there.cmp(a_there).then_with(|| self.settings.policy.compare(a, b))
        });
        candidates.retain(|(candidate, _)| candidate.id != self.me.id);
        let is_certain =
            |(_, presence): &&(Candidate, PresenceEvidence)| *presence > PresenceEvidence::Recorded;
        let certain = candidates.iter().filter(is_certain).count();
        let successors = candidates.into_iter().map(|(candidate, _)| candidate.id).collect();
        View {
            version,
            coordinator: self.me.id.clone(),
            members: members.collect(),
            successors,
            certain,
        }
    }

    /// The nodes that may lead and stay, each with how sure it is that its process is there.
    fn candidates(&self) -> impl Iterator<Item = (Candidate, PresenceEvidence)> {
        let staying = |e: &&Entry| e.record.eligible && !e.record.draining;
        self.registry.live().filter(staying).map(|entry| {
            let candidate = Candidate {
                id: entry.record.id.clone(),
                priority: entry.record.profile.priority,
                arrival: entry.arrival,
            };
            (candidate, PresenceEvidence::of(entry))
        })
    }

    /// What became of the published view.
    pub(crate) fn view_published(&mut self, now: Moment, outcome: Outcome, view: Arc<View>) {
        match outcome {
            Outcome::Applied => {
                self.in_flight.views_refused = 0;
                self.notify_first_in_line(&view);
                self.notify_assigned(&view);
                self.adopt_view(view);
                // What was read meanwhile may differ again.
                self.publish_view();
            }
            // A later epoch exists: most likely the next look shows it. Should it not, the store
            // has lost that epoch's grant, and only a new term gets above what was written in it.
            Outcome::Conflict => {
                self.in_flight.views_refused += 1;
                if self.in_flight.views_refused > 1 {
                    self.hand_over(now, ReleaseReason::FencedOff, None);
                } else {
                    self.beat_soon(now);
                }
            }
            Outcome::Unknown => self.beat_soon(now),
        }
    }

    /// A newer view replaces the one known.
    pub(crate) fn adopt_view(&mut self, view: Arc<View>) {
        let known = self.view.as_ref().map(|view| view.version).unwrap_or_default();
        if view.version <= known && !planted!(StaleReadBelieved) {
            return;
        }
        self.emit(Event::WorkersUpdated { version: view.version, workers: view.members.len() });
        self.view_rank = self.place_in(&view);
        self.view = Some(view);
    }

    /// This node's place in the line of a view. One whose past self published it comes last.
    fn place_in(&self, view: &View) -> Option<u32> {
        let last = self.is_by_past_self(view).then_some(view.successors.len());
        view.rank(&self.me.id).or(last).map(|rank| rank as u32)
    }

    /// Did an earlier process of this node publish this view?
    pub(crate) fn is_by_past_self(&self, view: &View) -> bool {
        let member = view.member(&self.me.id).filter(|_| view.coordinator == self.me.id);
        member.is_some_and(|member| member.boot != self.me.boot)
    }

    /// Whom to name when leadership is given up.
    pub(crate) fn first_successor(&self) -> Option<NodeId> {
        let view = self.view.as_deref()?;
        let stays = |id: &&NodeId| **id != self.me.id && !self.has_lost_turn(view, id);
        view.successors.iter().find(stays).cloned()
    }

    /// The node that the policy prefers to this one, if any.
    pub(crate) fn preferred_successor(&self) -> Option<NodeId> {
        let settings = &self.settings;
        if settings.preempt == Preempt::Never || settings.policy == Policy::Incumbent {
            return None;
        }
        let beats = |(_, presence): &(Candidate, PresenceEvidence)| {
            *presence == PresenceEvidence::HasBeaten
        };
        let beating = self.candidates().filter(beats).map(|(candidate, _)| candidate);
        let best = beating.min_by(|a, b| settings.policy.compare(a, b));
        best.map(|best| best.id).filter(|id| *id != self.me.id)
    }
}
