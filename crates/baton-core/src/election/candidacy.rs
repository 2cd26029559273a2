//! Candidacy: whether this node may stand for election, and whether it may use its id at all.

use std::sync::Arc;

use crate::core::Core;
use crate::event::{DemotionReason, Event};
use crate::ids::BootId;
use crate::planted::planted;
use crate::protocol::{Member, ReleaseReason};
use crate::time::Moment;
use crate::timer::Timer;

/// Whether this node may lead and is fit to, and its load: what its record says of it.
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
pub struct IdHolder {
    boot: BootId,
    beat: u64,
    since: Moment,
    /// Where its lifeline listens, once its record was read.
    lifeline: Option<Arc<str>>,
}

impl IdHolder {
    /// The lifeline whose end proves that it is gone.
    pub(crate) fn lifeline(&self) -> Option<(BootId, Arc<str>)> {
        self.lifeline.clone().map(|address| (self.boot, address))
    }
}

impl Core {
    /// May this node claim a free lease?
    pub(crate) fn may_campaign(&self) -> bool {
        self.is_candidate()
            && self.term.is_none()
            && self.registered
            && !self.leaving
            && self.cold_start.may_stand_since.is_some()
    }

    /// Does this node offer itself as a leader?
    pub(crate) fn is_candidate(&self) -> bool {
        let standing = &self.standing;
        (standing.eligible || planted!(IneligibleCampaigns))
            && standing.healthy
            && !standing.recovering
            && !standing.draining
    }

    /// Something about this node's standing changed: a leader that is no candidate hands over.
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
    /// whether the other still beats: then it is refused. It takes the id over once the other is
    /// proved dead by its lifeline, or after two beats' silence. The one that fell silent will find
    /// itself superseded.
    pub(crate) fn id_is_taken(&mut self, now: Moment, boot: BootId, beat: u64) {
        if self.registered {
            if !std::mem::replace(&mut self.superseded, true) {
                self.emit(Event::NodeSuperseded { by: boot });
            }
            self.leaving = true;
            self.stop_term(now, DemotionReason::Superseded, true, None);
            return;
        }
        if self.deaths.has(boot) || planted!(IdHolderPresumedDead) {
            return self.replace(now, boot);
        }
        self.look_for_id_holder(now);
        match &self.id_holder {
            Some(id_holder) if id_holder.boot == boot && id_holder.beat != beat => {
                self.emit(Event::NodeIdTaken { by: boot });
                self.leaving = true;
                self.superseded = true;
            }
            Some(id_holder) if id_holder.boot == boot => {
                let beat_gap = self.settings.heartbeat_interval + self.settings.heartbeat_jitter;
                let silent_at = id_holder.since + 2 * beat_gap;
                if now >= silent_at {
                    self.replaces = Some(boot);
                    self.plan_beat(now);
                } else {
                    self.plan_beat(silent_at.min(now + self.settings.heartbeat_interval / 2));
                }
            }
            _ => {
                self.id_holder = Some(IdHolder { boot, beat, since: now, lifeline: None });
                self.replaces = None;
            }
        }
    }

    /// Reads the records: one of them has the address of the process that has this node's id.
    fn look_for_id_holder(&mut self, now: Moment) {
        let known = self.id_holder.as_ref().is_some_and(|id_holder| id_holder.lifeline.is_some());
        if self.me.profile.lifeline.is_some() && !known && !planted!(IdHolderWaitedOut) {
            self.read_members(now);
        }
    }

    /// The records were read while this node tries to register.
    pub(crate) fn id_holder_is_listed(&mut self, members: &[Member]) {
        let (id, id_holder) = (&self.me.id, self.id_holder.as_mut());
        let Some(id_holder) = id_holder.filter(|_| !self.registered) else { return };
        let records = members.iter().map(|member| &member.record);
        let mut own = records.filter(|record| record.id == *id && record.boot == id_holder.boot);
        id_holder.lifeline = own.next().and_then(|record| record.profile.lifeline.clone());
    }

    /// The process that has this node's id is proved dead: the next beat takes the id over.
    pub(crate) fn replace(&mut self, now: Moment, boot: BootId) {
        let again = self.replaces.replace(boot) == Some(boot);
        self.plan_beat(if again { now + self.gap() } else { now });
    }

    /// Does this process keep this node from registering?
    pub(crate) fn is_id_holder(&self, boot: BootId) -> bool {
        !self.registered && self.id_holder.as_ref().is_some_and(|id_holder| id_holder.boot == boot)
    }
}
