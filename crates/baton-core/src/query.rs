//! What can be asked of a node, at any time and without changing it.

use std::sync::Arc;
use std::time::Duration;

use crate::core::{Core, Identity};
use crate::election::leading::{Stage, Term};
use crate::event::Phase;
use crate::guard::breaker::BreakerStatus;
use crate::ids::{Epoch, NodeId};
use crate::lease::Window;
use crate::metrics::MetricsReport;
use crate::planted::planted;
use crate::protocol::View;
use crate::settings::Settings;
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

    /// Does work of a term go on although its hard deadline has passed and was told?
    pub fn is_overrunning(&self) -> bool {
        let stage = self.term().map(|term| &term.stage);
        matches!(stage, Some(Stage::Stopping { overran: true, .. }))
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

    /// How long, since its start, this node has known of no leader. A term that has not begun
    /// its work, or that is told to stop, coordinates nothing.
    pub fn leaderless(&self, now: Moment) -> Duration {
        let now = if self.halted { self.metrics.counted_at(now) } else { now };
        self.metrics.leaderless(now, self.led_until())
    }

    /// The live nodes, as the last view has them.
    pub fn active_workers(&self) -> impl Iterator<Item = &NodeId> {
        self.view.iter().flat_map(|view| view.members.iter().map(|member| &member.id))
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
        self.cold.phase()
    }

    /// Counts and percentiles.
    pub fn metrics(&self) -> MetricsReport {
        self.metrics.report()
    }

    /// The state of the breaker.
    pub fn circuit_breaker_status(&self) -> BreakerStatus {
        self.in_flight.breaker.status()
    }
}
