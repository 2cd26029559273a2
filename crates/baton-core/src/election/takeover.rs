//! Takeover: when this node claims a lease that is, or will be, free.
//!
//! ```text
//!   resigned, names me      ├ now
//!   resigned, names no node ├ turn(rank)
//!   proved dead             ├ turn(rank)
//!   resigned, names another ├ a beat ┤ turn(rank)                the named one may be gone
//!   expired                 ├ takeover_delay ┤ turn(rank)        there is doubt
//! ```
//!
//! A turn is `takeover_stagger` per rank, so that the first successor goes first and the others
//! find the lease taken. Ranks beyond the last spread at random over half a beat. A successor that
//! is known to be dead has no turn.

use std::time::Duration;

use super::observed_lease::Availability;
use crate::core::Core;
use crate::ids::NodeId;
use crate::planted::planted;
use crate::protocol::{Claim, View};
use crate::time::Moment;

/// How many successors get a turn of their own.
pub const RANKS: u32 = 8;

impl Core {
    /// When to claim the lease and on what ground, as things stand; `None` if this node must not.
    pub(crate) fn claim_plan(&self) -> Option<(Moment, Claim)> {
        if !self.may_campaign() {
            return None;
        }
        let delay = self.settings.takeover_delay;
        let (at, claim) = match self.observed.availability() {
            Availability::Unseen => return None,
            Availability::NoRecord { .. } => {
                (self.cold_start.may_stand_since? + self.turn(), Claim::Vacant)
            }
            Availability::Vacant { since, successor } => match successor {
                Some(named) if named == self.me.id => (since, Claim::Vacant),
                Some(_) if planted!(TransferWithoutFallback) => return None,
                // Where nothing pushes, the named one learns of it with its next beat.
                Some(_) => (since + delay.max(self.a_beat()) + self.turn(), Claim::Vacant),
                None => (since + self.turn(), Claim::Vacant),
            },
            Availability::Dead { since, boot } => (since + self.turn(), Claim::Dead { boot }),
            Availability::Held { until } => (until + delay + self.turn(), Claim::Expired),
        };
        let at = at.max(self.cold_start.may_stand_since.unwrap_or_default());
        Some((at.max(self.observed.suspect_until().unwrap_or_default()), claim))
    }

    /// The longest time between two looks of a node that nothing hurries.
    fn a_beat(&self) -> Duration {
        self.settings.heartbeat_interval + self.settings.heartbeat_jitter
    }

    /// How long this node lets better-placed ones go first.
    fn turn(&self) -> Duration {
        if planted!(NoStagger) {
            return Duration::ZERO;
        }
        let stagger = self.settings.takeover_stagger;
        match self.rank() {
            Some(rank) if rank < RANKS => stagger * rank,
            _ => stagger * RANKS + self.tail_delay,
        }
    }

    /// This node's place among the successors that are left: from the view, or from its own cold
    /// start.
    pub(crate) fn rank(&self) -> Option<u32> {
        let Some((view, place)) = self.view.as_deref().zip(self.view_rank) else {
            return self.cold_start.rank;
        };
        // Far behind, a few dead make no difference; a large view takes a while to search.
        if place > RANKS + self.deaths.count() as u32 {
            return Some(place);
        }
        let ahead = view.successors.iter().take(place as usize);
        Some(ahead.filter(|id| !self.has_lost_turn(view, id)).count() as u32)
    }

    /// Is this successor out of the line? It leads already, or its process is proved dead.
    pub(crate) fn has_lost_turn(&self, view: &View, id: &NodeId) -> bool {
        let holder = self.observed.lease().and_then(|lease| lease.holder.as_ref());
        let leads = holder.is_some_and(|holder| holder.node == *id && *id != self.me.id);
        leads || view.member(id).is_some_and(|member| self.deaths.has(member.boot))
    }

    /// Spreads the nodes beyond the last rank; drawn anew for each claim.
    pub(crate) fn draw_tail_delay(&mut self) {
        self.tail_delay = self.rng.span(Duration::ZERO, self.settings.heartbeat_interval / 2);
    }
}
