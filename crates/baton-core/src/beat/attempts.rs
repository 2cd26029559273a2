//! Attempts to write the lease. A lost reply leaves one open until a look at the record shows what
//! became of it.

use std::collections::VecDeque;
use std::time::Duration;

use crate::ids::{BootId, Nonce};
use crate::time::Moment;

/// Attempts to write the lease whose outcome is not known yet.
#[derive(Clone, Debug, Default, Hash)]
pub struct Attempts {
    count: u64,
    open: VecDeque<(Nonce, Moment)>,
}

/// More than can be under way within one lease. A forgotten one costs a renewal, not safety.
const ATTEMPTS_KEPT: usize = 8;

impl Attempts {
    pub(crate) fn next_nonce(&mut self, boot: BootId) -> Nonce {
        self.count += 1;
        Nonce { boot, attempt: self.count }
    }

    pub(super) fn sent(&mut self, nonce: Nonce, at: Moment) {
        if self.open.len() == ATTEMPTS_KEPT {
            self.open.pop_front();
        }
        self.open.push_back((nonce, at));
    }

    /// Time passed that the clock did not count: all of them were sent this much earlier.
    pub(crate) fn date_back(&mut self, by: Duration) {
        for (_, sent) in &mut self.open {
            *sent = *sent - by;
        }
    }

    pub(super) fn forget(&mut self, nonce: Nonce) {
        self.open.retain(|(open, _)| *open != nonce);
    }

    /// When the attempt with this nonce was first sent, if it is one of ours.
    pub(crate) fn sent_at(&self, nonce: Nonce) -> Option<Moment> {
        self.open.iter().find(|(open, _)| *open == nonce).map(|&(_, at)| at)
    }
}
