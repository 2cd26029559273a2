//! Crashes in quick succession, at the end of the calm: each new leader is killed as soon as
//! another node has been up for a moment. The killed ones come back at once, in one run of two; in
//! the others they stay away, and in half of those they are told to leave instead of killed. Where
//! they come back, all of them are killed together at the end.
//!
//! ```text
//!   all boot ├─ settle ─┤ kill ├ led again? ├─ a moment ─┤ kill ├ led again? ├─ … ─┤ kill all ┤ …
//! ```
//!
//! Nothing waits for an expiry here: each death is proved by a lifeline, the successors know their
//! places, and the restarted ones take up theirs.

use std::time::Duration;

use super::{Event, World};
use crate::clock::TrueTime;
use crate::plan::{Fault, Plan};

/// Leaders that are killed and come back.
const STRIKES: usize = 5;

/// How far the succession is.
#[derive(Default)]
pub struct Succession {
    began: bool,
    stay_away: bool,
    leave: bool,
    strikes: usize,
    bound: Duration,
    struck: TrueTime,
}

impl Succession {
    /// Do the killed come back at once?
    pub fn restarts(&self) -> bool {
        self.began && !self.stay_away
    }
}

impl Plan {
    /// Must a killed leader be followed at once? Only where deaths can be proved and hints are not
    /// drowned.
    fn succeeds_quickly(&self) -> bool {
        let candidates = self.nodes - self.ineligible.len();
        self.lifeline && candidates > 2 && !self.has(Fault::HintFlood)
    }

    /// How long a restarted node takes to be in line again.
    fn back_in_line(&self) -> Duration {
        let s = &self.settings;
        s.lease_timeout / 200 + s.heartbeat_interval / 10 + 24 * self.latency.usual
    }

    /// How long no node leads after a death that is proved. A node may believe that another comes
    /// first, since the last view has moved: that costs a turn.
    fn succession_bound(&self) -> Duration {
        let round_trips = 4 * 2 * self.latency.usual;
        self.settings.takeover_stagger + round_trips + Duration::from_millis(20)
    }

    /// How long no node leads after all were killed, if they come back at once: the last leader's
    /// next start proves its past self dead, and comes after the other successors.
    fn restart_bound(&self) -> Duration {
        let turns = self.nodes as u32 * self.settings.takeover_stagger;
        self.back_in_line() + turns + self.succession_bound()
    }

    /// Are those who are killed under the eyes of all known when they come back?
    fn keeps_ids(&self) -> bool {
        self.has(Fault::Restart) && self.nodes < baton_core::election::takeover::RANKS as usize
    }
}

impl World {
    /// Everything has recovered once more: the succession begins, or the run is over.
    pub(super) fn begin_succession(&mut self) {
        if !self.plan.succeeds_quickly() {
            self.over = true;
            return;
        }
        self.succession.began = true;
        self.succession.stay_away = self.plan.seed.is_multiple_of(2);
        self.succession.leave = self.plan.seed.is_multiple_of(4);
        for slot in 0..self.plan.nodes {
            self.queue.push(self.now, Event::Boot(slot));
        }
        let settled = self.now + self.settling();
        self.queue.push(settled, Event::Strike);
    }

    /// The leader is killed.
    pub(super) fn kill_leader(&mut self) {
        let Some(leader) = self.leader() else {
            // A hand-over is under way.
            return self.queue.push(self.now + self.plan.back_in_line(), Event::Strike);
        };
        self.succession.strikes += 1;
        self.succession.struck = self.now;
        self.succession.bound = self.plan.succession_bound();
        if self.succession.leave {
            self.tell_to_leave(leader.slot);
            // Work takes up to half of its grace to stop.
            self.succession.bound +=
                self.plan.settings.stop_grace / 2 + 8 * self.plan.latency.usual;
        } else {
            self.crash(leader);
        }
        if self.succession.restarts() && self.succession.strikes > STRIKES {
            self.processes().into_iter().for_each(|pid| self.crash(pid));
            self.succession.bound = self.plan.restart_bound();
        }
        self.queue.push(self.now + self.succession.bound, Event::Succeeded);
    }

    /// One node stays, and a cluster that keeps its ids is killed as a whole.
    fn is_last_strike(&self) -> bool {
        let eligible = self.plan.nodes - self.plan.ineligible.len();
        let left = match self.succession.restarts() {
            true => STRIKES + usize::from(self.plan.keeps_ids()),
            false => eligible - 1,
        };
        self.succession.strikes >= left
    }

    /// Another node must lead by now.
    pub(super) fn succeeded(&mut self) {
        let struck = self.succession.struck;
        if !self.led_since(struck) {
            let Succession { bound, strikes, .. } = self.succession;
            let message = format!("no leader {bound:?} after strike {strikes} of a succession");
            return self.violate("L1", "succeeds", message);
        }
        if self.is_last_strike() {
            self.over = true;
            return;
        }
        self.queue.push(self.now + self.plan.back_in_line(), Event::Strike);
    }
}
