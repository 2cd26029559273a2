//! Floods: forged hints of every kind, many a beat, from a sender that can reach the nodes and
//! perhaps knows what is stored, and not the store itself.

use std::time::Duration;

use baton_core::ids::{Epoch, Nonce};
use baton_core::protocol::{Hint, Version, ViewVersion};

use super::{Delivery, Event, World};
use crate::clock::TrueTime;
use crate::fact::ProcessId;

/// Forged hints that reach each node within one beat.
const A_BEAT: [u32; 3] = [8, 40, 120];

/// A flood in progress.
#[derive(Clone, Copy)]
pub struct Flood {
    every: Duration,
    /// When it ends; `None` if it goes on to the end of the run.
    until: Option<TrueTime>,
}

impl World {
    /// A flood begins and will end.
    pub(super) fn flood_for_a_while(&mut self) -> bool {
        let lease = self.plan.settings.lease_timeout;
        let until = self.now + self.rng.span(lease / 2, 3 * lease);
        self.begin_flood(Some(until));
        true
    }

    /// A flood begins that lasts as long as the run.
    pub(super) fn flood_to_the_end(&mut self) {
        self.begin_flood(None);
    }

    fn begin_flood(&mut self, until: Option<TrueTime>) {
        let a_beat = A_BEAT[self.rng.below(A_BEAT.len() as u64) as usize];
        let every = self.plan.settings.heartbeat_interval / a_beat;
        self.queue.push(self.now, Event::Forge(Flood { every, until }));
    }

    /// The next forged hint reaches every node.
    pub(super) fn forge(&mut self, flood: Flood) {
        if flood.until.is_some_and(|until| self.now >= until) {
            return;
        }
        for pid in self.processes() {
            let hint = self.forged_hint(pid);
            self.queue.push(self.now, Event::Deliver(pid, Delivery::Hint(hint)));
        }
        let at = self.now + self.rng.span(flood.every / 2, flood.every * 3 / 2);
        self.queue.push(at, Event::Forge(flood));
    }

    fn forged_hint(&mut self, to: ProcessId) -> Hint {
        let version = self.forged_version(to);
        match self.rng.below(11) {
            0 => Hint::Look,
            1 => Hint::Asked,
            2 => Hint::ViewMoved,
            3 => Hint::Prepare { epoch: version.epoch },
            4 => Hint::Joined { boot: version.nonce.boot },
            5 => Hint::Left { boot: version.nonce.boot },
            6 => Hint::InLine { view: ViewVersion { epoch: version.epoch, number: 9 } },
            _ => {
                let named = match self.rng.below(4) {
                    0 => None,
                    1 => self.any_process(),
                    _ => Some(to),
                };
                let successor = named.map(|pid| self.machines[pid.slot].node.clone());
                Hint::Released { version, successor }
            }
        }
    }

    /// The version as it is stored, or of the same epoch with another nonce, or of an epoch that
    /// will never be, or of one that is over.
    fn forged_version(&mut self, to: ProcessId) -> Version {
        let made_up = Nonce { boot: to.boot, attempt: self.rng.below(1 << 40) };
        let none = Version { epoch: Epoch::NONE, nonce: made_up };
        let stored = self.store.lease(self.now).map_or(none, |lease| lease.version);
        let epoch = stored.epoch;
        match self.rng.below(4) {
            0 => stored,
            1 => Version { epoch, nonce: made_up },
            2 => Version { epoch: Epoch(u64::MAX - self.rng.below(1_000)), nonce: made_up },
            _ => Version { epoch: Epoch(epoch.0.saturating_sub(1)), nonce: made_up },
        }
    }
}
