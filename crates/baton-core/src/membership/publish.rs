//! Publishing the view: only when it changed, only under the term's epoch.

use std::sync::Arc;

use crate::core::Core;
use crate::election::leading::{Stage, Term};
use crate::election::policy::Candidate;
use crate::event::Event;
use crate::ids::{Epoch, NodeId};
use crate::planted::planted;
use crate::protocol::{Member, Outcome, ReleaseReason, Request, View, ViewMember, ViewVersion};
use crate::settings::{Policy, Preempt};
use crate::time::Moment;

impl Core {
    /// The records were read.
    pub(crate) fn members_read(&mut self, now: Moment, members: Vec<Member>) {
        self.cold_start_members(now, &members);
        let leads = self.term().is_some_and(|term| term.stage == Stage::Running);
        if !leads {
            return self.decide_transfer(now);
        }
        let order = self.view.as_ref().map_or(&[][..], |view| &view.successors);
        let all_beat = self.all_beat(&members);
        let changes = self.registry.read(now, members, order);
        self.metrics.workers_changed(changes.joined.len() as u64, changes.timed_out.len() as u64);
        for node in changes.timed_out {
            self.emit(Event::WorkerTimedOut { worker: node });
        }
        for node in changes.dead {
            self.emit(Event::WorkerDead { worker: node });
        }
        self.publish_view();
        self.link.calm.is_still(all_beat && self.link.publish.is_none());
        self.decide_transfer(now);
    }

    fn publish_view(&mut self) {
        let Some(epoch) = self.term().map(Term::epoch) else {
            return;
        };
        if self.link.publish.is_some() {
            return;
        }
        let number = self.link.views_sent + 1;
        let view = self.compose_view(ViewVersion { epoch, number });
        let unchanged = self.view.as_ref().is_some_and(|old| {
            old.version.epoch == epoch
                && old.members == view.members
                && old.successors == view.successors
        });
        if unchanged {
            return;
        }
        let view = Arc::new(view);
        let fence = if planted!(ViewWithoutEpoch) { Epoch(u64::MAX) } else { epoch };
        self.link.views_sent = number;
        let id = self.send(Request::PublishView { fence, view: view.clone() });
        self.link.publish = Some((id, view));
    }

    fn compose_view(&self, version: ViewVersion) -> View {
        let members = self.registry.live().map(|entry| ViewMember {
            id: entry.record.id.clone(),
            boot: entry.record.boot,
            candidate: entry.record.eligible && !entry.record.draining,
            draining: entry.record.draining,
        });
        // Nodes that were not heard yet come last: their records may be all that is left of them.
        let (mut candidates, mut unheard): (Vec<_>, Vec<_>) =
            self.candidates().partition(|(_, heard)| *heard);
        candidates.sort_by(|a, b| self.settings.policy.compare(&a.0, &b.0));
        unheard.sort_by(|a, b| self.settings.policy.compare(&a.0, &b.0));
        candidates.append(&mut unheard);
        let successors = candidates
            .into_iter()
            .map(|(candidate, _)| candidate.id)
            .filter(|id| *id != self.me.id)
            .collect();
        View { version, coordinator: self.me.id.clone(), members: members.collect(), successors }
    }

    /// The nodes that may lead and stay, each with whether it was heard in this term.
    fn candidates(&self) -> impl Iterator<Item = (Candidate, bool)> {
        let staying =
            |e: &&crate::membership::registry::Entry| e.record.eligible && !e.record.draining;
        self.registry.live().filter(staying).map(|entry| {
            let candidate = Candidate {
                id: entry.record.id.clone(),
                priority: entry.record.profile.priority,
                arrival: entry.arrival,
            };
            (candidate, entry.heard)
        })
    }

    /// What became of the published view.
    pub(crate) fn view_published(&mut self, now: Moment, outcome: Outcome, view: Arc<View>) {
        match outcome {
            Outcome::Applied => {
                self.link.views_refused = 0;
                self.adopt_view(view);
            }
            // A later epoch exists: most likely the next look shows it. Should it not, the store
            // has lost that epoch's grant, and only a new term gets above what was written in it.
            Outcome::Conflict => {
                self.link.views_refused += 1;
                if self.link.views_refused > 1 {
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
        self.view_rank = view.rank(&self.me.id).map(|rank| rank as u32);
        self.view = Some(view);
    }

    /// Whom to name when leadership is given up.
    pub(crate) fn first_successor(&self) -> Option<NodeId> {
        self.view.as_ref()?.successors.iter().find(|id| **id != self.me.id).cloned()
    }

    /// The node that the policy prefers to this one, if any.
    pub(crate) fn preferred_successor(&self) -> Option<NodeId> {
        let settings = &self.settings;
        if settings.preempt == Preempt::Never || settings.policy == Policy::Incumbent {
            return None;
        }
        let heard = self.candidates().filter(|(_, heard)| *heard).map(|(candidate, _)| candidate);
        let best = heard.min_by(|a, b| settings.policy.compare(a, b));
        best.map(|best| best.id).filter(|id| *id != self.me.id)
    }
}
