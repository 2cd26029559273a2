//! Candidacy: whether this node may stand for election, and whether it may use its id at all.

use crate::core::Core;
use crate::event::{DemotionReason, Event};
use crate::ids::BootId;
use crate::planted::planted;
use crate::protocol::ReleaseReason;
use crate::time::Moment;
use crate::timer::Timer;

use super::leading::Role;

/// What this node says of itself.
#[derive(Clone, Debug, Hash)]
pub struct Standing {
    /// May it lead?
    pub eligible: bool,
    /// Are its plugins fit to run?
    pub healthy: bool,
    /// Did its plugins fail to start lately?
    pub recovering: bool,
    /// Is it on its way out?
    pub draining: bool,
    /// How many jobs it has.
    pub load: u32,
}

/// The process that goes by this node's id, as seen while this one tries to register.
#[derive(Clone, Debug, Hash)]
pub struct Rival {
    boot: BootId,
    beat: u64,
    since: Moment,
}

impl Core {
    /// May this node claim a free lease?
    pub(crate) fn may_campaign(&self) -> bool {
        self.is_candidate()
            && matches!(self.role, Role::Follower)
            && self.registered
            && !self.leaving
            && self.cold.stood_since().is_some()
    }

    /// Does this node offer itself as a coordinator?
    pub(crate) fn is_candidate(&self) -> bool {
        let standing = &self.standing;
        (standing.eligible || planted!(IneligibleCampaigns))
            && standing.healthy
            && !standing.recovering
            && !standing.draining
    }

    /// Something about this node's standing changed: a coordinator that is no candidate hands over.
    pub(crate) fn standing_changed(&mut self, now: Moment) {
        if !self.settings.enabled {
            return;
        }
        if !self.is_candidate() {
            self.hand_over(now, ReleaseReason::NotEligible, None);
        }
        self.beat_soon(now);
    }

    /// The plugins did not start, or failed too often: let another lead, and try again later.
    pub(crate) fn plugins_failed(&mut self, now: Moment) {
        if planted!(FailedPluginsKeepLeading) {
            return;
        }
        self.standing.recovering = true;
        self.set_timer(Timer::Recover, now + 2 * self.settings.lease_timeout);
        self.hand_over(now, ReleaseReason::PluginsFailed, None);
    }

    /// Another process holds the record of this node's id.
    ///
    /// A process that was registered has been superseded and stops. One that starts waits to see
    /// whether the other still beats: then it is refused; else, after two beats' silence, it takes
    /// the id over. The one that fell silent will find itself superseded.
    pub(crate) fn id_is_taken(&mut self, now: Moment, boot: BootId, beat: u64) {
        if self.registered {
            if !std::mem::replace(&mut self.superseded, true) {
                self.emit(Event::NodeSuperseded { by: boot });
            }
            self.leaving = true;
            self.stop_term(now, DemotionReason::Superseded, true, None);
            return;
        }
        match &self.rival {
            Some(rival) if rival.boot == boot && rival.beat != beat => {
                self.emit(Event::NodeIdTaken { by: boot });
                self.leaving = true;
                self.superseded = true;
            }
            Some(rival) if rival.boot == boot => {
                let beat_gap = self.settings.heartbeat_interval + self.settings.heartbeat_jitter;
                let silent_at = rival.since + 2 * beat_gap;
                if now >= silent_at {
                    self.replaces = Some(boot);
                    self.plan_beat(now);
                } else {
                    self.plan_beat(silent_at.min(now + self.settings.heartbeat_interval / 2));
                }
            }
            _ => {
                self.rival = Some(Rival { boot, beat, since: now });
                self.replaces = None;
            }
        }
    }
}
