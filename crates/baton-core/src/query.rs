//! What can be asked of a node, at any time and without changing it.

use std::sync::Arc;

use crate::core::{Core, Identity};
use crate::election::leading::{Stage, Term};
use crate::event::Phase;
use crate::ids::{Epoch, NodeId};
use crate::lease::Window;
use crate::planted::planted;
use crate::protocol::View;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::time::Moment;

impl Core {
    /// Who this node is.
    pub fn identity(&self) -> &Identity {
        &self.me
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Does the store know this process by its node's id?
    pub fn is_registered(&self) -> bool {
        self.registered
    }

    /// Does this node lead at `now`? Computed from the clock at each call.
    pub fn is_leader(&self, now: Moment) -> bool {
        let running = self.term().filter(|term| term.stage == Stage::Running);
        running.is_some_and(|term| planted!(CachedIsLeader) || term.window.is_open(now))
    }

    /// May the leader's work start something new at `now`?
    pub fn may_start_work(&self, now: Moment, epoch: Epoch) -> bool {
        let running = self.term().filter(|term| term.stage == Stage::Running);
        running.is_some_and(|term| {
            term.epoch() == epoch && (planted!(CachedIsLeader) || term.window.may_start(now))
        })
    }

    /// The open trust window at `now`, and its epoch: whatever of the term runs may act until then.
    pub fn window(&self, now: Moment) -> Option<(Epoch, Window)> {
        let term = self.term().filter(|term| term.is_active())?;
        term.window.is_open(now).then_some((term.epoch(), term.window))
    }

    /// The term whose record names this process, open or not.
    pub fn held_epoch(&self) -> Option<Epoch> {
        self.term().map(Term::epoch)
    }

    /// The highest epoch of this process's own that is over.
    pub fn ended_epoch(&self) -> Epoch {
        self.last_ended
    }

    /// Who coordinates, as far as this node knows.
    pub fn leader(&self, now: Moment) -> Option<&NodeId> {
        if !self.settings.enabled || self.is_leader(now) {
            return Some(&self.me.id);
        }
        let live = self.observed.is_live(now);
        self.observed.lease().filter(|_| live)?.holder.as_ref().map(|holder| &holder.node)
    }

    /// Until when a leader is known, if nothing else is heard: this node's own window while
    /// its term runs, or another holder's lease as it was last seen.
    pub(crate) fn led_until(&self) -> Option<Moment> {
        match self.term() {
            Some(term) => (term.stage == Stage::Running).then_some(term.window.hard),
            None => self.observed.held_until().filter(|_| !self.observed.is_held_by(self.me.boot)),
        }
    }

    /// The last view.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// The highest epoch this node knows of.
    pub fn known_epoch(&self) -> Epoch {
        self.fence.known()
    }

    /// Is a task of this epoch, which came into being here at `created_at`, still acceptable?
    pub fn is_epoch_valid(&mut self, now: Moment, epoch: Epoch, created_at: Moment) -> bool {
        self.fence.is_valid(now, epoch, created_at)
    }

    /// How far the cold start has come.
    pub fn phase(&self) -> Phase {
        self.cold_start.phase
    }

    /// What other threads are to know of this node. Equal as long as nothing that it says changed.
    pub fn snapshot(&self) -> Snapshot {
        let led_until = self.led_until();
        let stage = self.term().map(|term| &term.stage);
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        let held = holder.zip(self.observed.held_until());
        let running = self.term().filter(|term| term.stage == Stage::Running);
        Snapshot {
            node: self.me.id.clone(),
            is_registered: self.registered,
            is_overrunning: matches!(stage, Some(Stage::Stopping { overran: true, .. })),
            lineage: self.observed.lineage(),
            written_at: match self.settings.enabled {
                true => self.partitions.written_at(),
                false => Some(Moment::NEVER),
            },
            clock_leapt: self.partitions.clock_leapt(),
            written_report: match self.settings.enabled {
                true => self.partitions.written_report(),
                false => self.partitions.report(),
            },
            view: self.view.clone(),
            breaker: self.in_flight.breaker.status(),
            leads_until: match self.settings.enabled {
                true => running.map(|term| term.window.hard),
                false => Some(Moment::NEVER),
            },
            holder: held.map(|(holder, until)| (holder.node.clone(), until)),
            fence: self.fence.clone(),
            metrics: self.metrics.clone(),
            leaderless: match self.halted {
                true => self.leaderless.stopped(),
                false => self.leaderless.until_next_input(led_until),
            },
        }
    }
}
