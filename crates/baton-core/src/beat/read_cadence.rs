//! What a calm cluster need not do at every beat: write a record that says nothing new, and read
//! records among which nothing moved. Every second time is enough, if silent nodes are still
//! noticed within their time.

use crate::core::Core;
use crate::protocol::{LeaseIntent, Member, NodeRecord, Recording};
use crate::settings::Settings;
use crate::time::Moment;

/// What was written and read last.
#[derive(Clone, Debug, Default, Hash)]
pub struct ReadCadence {
    /// The record as the store has it, and when it was sent. Forgotten when a beat failed.
    pub(super) written: Option<(NodeRecord, Moment)>,
    /// Did the last reading show nodes that have all beaten lately, and nothing that moved? Unread
    /// records, or those of another term, are not still.
    pub(crate) is_still: bool,
    /// Was the last reading left out?
    was_left_out: bool,
}

/// Does every second beat suffice to be noticed in time?
fn leaves_time(settings: &Settings) -> bool {
    3 * (settings.heartbeat_interval + settings.heartbeat_jitter) <= settings.worker_timeout
}

impl Core {
    /// May the store leave the record as it is? It says the same as one that was just written, and
    /// nothing is asked of the lease, which goes to registered nodes alone.
    pub(super) fn recording(
        &self,
        now: Moment,
        record: &NodeRecord,
        lease: &LeaseIntent,
    ) -> Recording {
        let Some((written, sent)) = &self.in_flight.read_cadence.written else {
            return Recording::Write;
        };
        let settings = &self.settings;
        let recent = now.since(*sent) <= settings.heartbeat_interval + settings.heartbeat_jitter;
        let same = *written == NodeRecord { beat: written.beat, ..record.clone() };
        let may_wait = recent && same && leaves_time(settings);
        match lease {
            LeaseIntent::Observe if may_wait => Recording::MayWait,
            _ => Recording::Write,
        }
    }

    /// Have all of these beaten lately? Only a store that shows ages can tell.
    pub(crate) fn all_beat(&self, members: &[Member]) -> bool {
        let lately = 2 * self.settings.heartbeat_interval;
        members.iter().all(|member| member.silent_for.is_some_and(|age| age <= lately))
    }

    /// The leader reads the records at every beat, or at every second one if all is calm.
    pub(crate) fn read_members_if_due(&mut self, now: Moment) {
        let calm = &mut self.in_flight.read_cadence;
        calm.was_left_out = calm.is_still && !calm.was_left_out && leaves_time(&self.settings);
        if !self.in_flight.read_cadence.was_left_out {
            self.read_members(now);
        }
    }
}
