//! Nodes tell each other who is there, over their lifelines, so that the line of successors is
//! right before the next beat. These are hints: each causes a look or a reading, and may be lost.
//!
//! ```text
//!   a node ── Joined, Left ──► leader: reads the records, publishes the view
//!   leader ── InLine ──► the first successors that may not know of the view: look, watch it
//! ```

use crate::action::Action;
use crate::core::Core;
use crate::ids::{BootId, NodeId};
use crate::planted::planted;
use crate::protocol::{Hint, View};
use crate::time::Moment;

impl Core {
    /// A node that may lead is there, and says so: the leader looks who is there, lest the line of
    /// successors lack it until the next beat. A busy leader finds it then.
    pub(crate) fn node_joined(&mut self, now: Moment, boot: BootId) {
        if self.running_epoch().is_none() || self.registry.is_certain(boot) {
            return;
        }
        self.in_flight.read_cadence.is_still = false;
        if self.registry.announced(boot) {
            return self.publish_view();
        }
        self.read_members_sooner(now);
    }

    /// A node has left, and says so: it must not be named as a successor.
    pub(crate) fn node_left(&mut self, now: Moment, boot: BootId) {
        let reads = self.in_flight.members.is_some();
        if self.running_epoch().is_some() && (reads || self.registry.knows(boot)) {
            self.in_flight.read_cadence.is_still = false;
            self.read_members_sooner(now);
        }
    }

    pub(super) fn read_members_sooner(&mut self, now: Moment) {
        if self.in_flight.hints.readings.take(now) {
            self.read_members_again(now);
        }
    }

    /// Reads the records, also if they are being read: what is new may be missing there.
    pub(crate) fn read_members_again(&mut self, now: Moment) {
        self.in_flight.members_again = self.in_flight.members.is_some();
        self.read_members(now);
    }

    /// This node's record is out of the store: the next leader, or the present one, may know.
    pub(crate) fn notify_of_leaving(&mut self) {
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        let leader = holder.map(|holder| holder.node.clone()).filter(|id| *id != self.me.id);
        let to = leader.or(self.in_flight.left_to.take()).filter(|_| !planted!(LeaveUntold));
        if let Some(to) = to {
            self.out.push(Action::Tell { to, hint: Hint::Left { boot: self.me.boot } });
        }
    }

    /// Tells the leader, once in its term, that this node may lead, unless that is known.
    pub(crate) fn mind_joining(&mut self, now: Moment) {
        let epoch = self.observed.epoch();
        let stands = self.is_candidate() && !self.leaving && self.term().is_none();
        let is_known = self.known_in_term >= epoch || planted!(JoinUntold);
        if !stands || !self.observed.is_live(now) || is_known {
            return;
        }
        self.known_in_term = epoch;
        let view = self.view.as_deref();
        let known = view.is_some_and(|view| view.is_certain(&self.me.id, self.me.boot));
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        if let Some(to) = holder.filter(|_| !known).map(|holder| holder.node.clone()) {
            self.out.push(Action::Tell { to, hint: Hint::Joined { boot: self.me.boot } });
        }
    }

    /// The first successors that may not know of it are told to look: they will watch this leader.
    pub(super) fn notify_first_in_line(&mut self, view: &View) {
        let near = self.settings.lifeline_successors as usize;
        let epoch = view.version.epoch;
        let before = self.view.as_deref().filter(|before| before.version.epoch == epoch);
        let knows = |id: &NodeId| {
            let boot = |view: &View| view.member(id).map(|member| member.boot);
            let was_near = |it: &View| it.successors.iter().take(near).any(|other| other == id);
            before.is_some_and(|before| was_near(before) && boot(before) == boot(view))
        };
        let unknowing = view.successors.iter().take(near).filter(|id| !knows(id));
        for to in unknowing.cloned().collect::<Vec<_>>() {
            if !planted!(LineUntold) {
                self.out.push(Action::Tell { to, hint: Hint::InLine { view: view.version } });
            }
        }
    }
}
