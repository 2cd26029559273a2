//! Takeover: when this node claims a lease that is, or will be, free.
//!
//! ```text
//!   resigned, names me      ├ now
//!   resigned, names nobody  ├ turn(rank)
//!   proved dead             ├ turn(rank)
//!   resigned, names another ├ a beat ┤ turn(rank)                the named one may be gone
//!   expired                 ├ takeover_delay ┤ turn(rank)        there is doubt
//! ```
//!
//! A turn is `takeover_stagger` per rank, so that the first successor goes first and the others
//! find the lease taken. Ranks beyond the last spread at random over half a beat.

use std::time::Duration;

use super::sight::Freedom;
use crate::core::Core;
use crate::planted::planted;
use crate::protocol::Claim;
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
        let (at, claim) = match self.sight.freedom() {
            Freedom::Unseen => return None,
            Freedom::NoRecord { .. } => (self.cold.stood_since()? + self.turn(), Claim::Vacant),
            Freedom::Vacant { since, successor } => match successor {
                Some(named) if named == self.me.id => (since, Claim::Vacant),
                Some(_) if planted!(TransferWithoutFallback) => return None,
                // Where nothing pushes, the named one learns of it with its next beat.
                Some(_) => (since + delay.max(self.a_beat()) + self.turn(), Claim::Vacant),
                None => (since + self.turn(), Claim::Vacant),
            },
            Freedom::Dead { since, boot } => (since + self.turn(), Claim::Dead { boot }),
            Freedom::Held { until } => (until + delay + self.turn(), Claim::Expired),
        };
        let at = at.max(self.cold.stood_since().unwrap_or_default());
        Some((at.max(self.sight.suspect_until().unwrap_or_default()), claim))
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
            _ => stagger * RANKS + self.tail,
        }
    }

    /// This node's place among the successors: from the view, or from its own cold start.
    pub(crate) fn rank(&self) -> Option<u32> {
        self.view_rank.or(self.cold.rank())
    }

    /// Spreads the nodes beyond the last rank; drawn anew for each claim.
    pub(crate) fn draw_tail(&mut self) {
        self.tail = self.rng.span(Duration::ZERO, self.settings.heartbeat_interval / 2);
    }
}
