//! The lease of a namespace: its rule, by the clock and the knowledge that this store declares.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::planted::planted;
use baton_core::protocol::{
    Acquire, Ask, Claim, Expiry, LeaseSnapshot, NodeRecord, Outcome, Release, Renew, TermEnd,
};
use baton_core::time::{Moment, whole_ms};
use serde::{Deserialize, Serialize};

use super::space::{Space, StepTime};
use crate::capability::ExpiryClock;
use crate::lease_rule::{self, EpochBounds, Facts, LeaseRecord, Liveness, UnreleasedEnd};

/// The record, and when it expires.
#[derive(Clone, Debug, Hash, Serialize, Deserialize)]
pub struct LeaseRow {
    #[serde(flatten)]
    pub(super) record: LeaseRecord,
    pub(super) expires_at: Moment,
}

/// The store's own leases are looked through this often, so they end late rather than early.
const REAP_EVERY_MICROS: u64 = 500_000;

impl LeaseRow {
    /// Has it run out, by the declared clock? An observer's store cannot tell.
    fn has_expired(&self, clock: ExpiryClock, now: Moment) -> Option<bool> {
        match clock {
            ExpiryClock::Store => Some(now >= self.expires_at),
            ExpiryClock::StoreLease => Some(last_reaping(now) >= self.expires_at),
            ExpiryClock::Observer => None,
        }
    }

    /// When its holder could last act, if that ends now: now, or when the lease ran out.
    fn last_acted_ms(&self, at: StepTime) -> u64 {
        at.wall_ms.saturating_sub(whole_ms(at.now.since(self.expires_at)))
    }

    /// The end of a term that another node's claim ends: its holder could act until the claim, or
    /// until its lease ran out, and is only known to have acted until it last renewed it.
    fn unreleased(&self, at: StepTime, end: TermEnd) -> UnreleasedEnd {
        let renewed = self.expires_at - self.record.ttl;
        UnreleasedEnd {
            end,
            ended_ms: self.last_acted_ms(at),
            renewed_ms: at.wall_ms.saturating_sub(whole_ms(at.now.since(renewed))),
        }
    }

    pub(super) fn snapshot(
        &self,
        clock: ExpiryClock,
        now: Moment,
        holder_is_dead: bool,
    ) -> LeaseSnapshot {
        self.record.snapshot(match self.has_expired(clock, now) {
            _ if holder_is_dead => Expiry::Left(Duration::ZERO),
            None => Expiry::Observer,
            Some(true) => Expiry::Left(Duration::ZERO),
            // Between the expiry and the reaping there is something left, though not much.
            Some(false) => Expiry::Left(self.expires_at.since(now).max(Duration::from_millis(1))),
        })
    }
}

fn last_reaping(now: Moment) -> Moment {
    Moment::from_micros(now.as_micros() / REAP_EVERY_MICROS * REAP_EVERY_MICROS)
}

impl Space {
    /// Does the store know that the holder's process is gone?
    pub(super) fn holder_is_dead(&self) -> bool {
        let holder = self.lease.as_ref().and_then(|row| row.record.holder.as_ref());
        holder.is_some_and(|holder| self.dead.contains(&holder.boot))
    }

    fn holder_liveness(&self) -> Liveness {
        match (self.holder_is_dead(), self.sees_deaths) {
            (true, _) => Liveness::Gone,
            (false, true) => Liveness::Alive,
            (false, false) => Liveness::Unknown,
        }
    }

    fn facts<'a>(&self, now: Moment, holder: &'a dyn Fn() -> Liveness) -> Facts<'a> {
        let row = self.lease.as_ref();
        let has_expired = row.and_then(|row| row.has_expired(self.expiry, now));
        Facts { lineage: self.lineage, has_expired, holder }
    }

    /// Begins a new term, if the claim holds.
    pub(super) fn acquire(
        &mut self,
        at: StepTime,
        node: &NodeRecord,
        mut acquire: Acquire,
    ) -> Outcome {
        let life = || self.holder_liveness();
        let mut facts = self.facts(at.now, &life);
        if planted!(StealByLaterExpiry) {
            self.let_steal(at.now, &mut acquire, &mut facts);
        }
        let bounds = EpochBounds { born_in: self.born_in, fence: self.fence };
        let row = self.lease.as_ref();
        let record = row.map(|row| &row.record);
        let Some(granted) = lease_rule::acquire(record, facts, bounds, node, &acquire) else {
            return Outcome::Conflict;
        };
        let mut record = granted.record;
        if planted!(EpochFromClock) {
            record.epoch = Epoch(at.wall_ms / 10_000);
        }
        let last = granted.ends.zip(row).map(|(end, row)| row.unreleased(at, end));
        self.history.begin(at.wall_ms, record.epoch, node, last);
        self.lease = Some(LeaseRow { record, expires_at: at.now + acquire.ttl });
        Outcome::Applied
    }

    /// Turns a claim that would hold the lease for longer than its holder does into one that holds.
    fn let_steal(&self, now: Moment, acquire: &mut Acquire, facts: &mut Facts<'_>) {
        if let Some(row) = self.lease.as_ref().filter(|row| now + acquire.ttl > row.expires_at) {
            let is_held = row.record.holder.is_some();
            acquire.expect = Some(row.record.version());
            acquire.lineage = self.lineage;
            acquire.claim = if is_held { Claim::Expired } else { Claim::Vacant };
            facts.has_expired = Some(true);
        }
    }

    /// Goes on with a term.
    pub(super) fn renew(&mut self, at: StepTime, renew: Renew) -> Outcome {
        let facts = self.facts(at.now, &|| Liveness::Unknown);
        let renewed = self.lease.as_ref().and_then(|row| row.record.renew(facts, &renew));
        self.lease_becomes(
            renewed.map(|record| LeaseRow { record, expires_at: at.now + renew.ttl }),
        )
    }

    /// Clears the holder and keeps everything else.
    pub(super) fn release(&mut self, at: StepTime, release: &Release) -> Outcome {
        let Some((row, record)) =
            self.lease.as_ref().and_then(|row| Some((row, row.record.release(release)?)))
        else {
            return Outcome::Conflict;
        };
        let ended_ms = row.last_acted_ms(at);
        self.history.end(ended_ms, record.epoch, TermEnd::Released(release.reason));
        self.lease = Some(LeaseRow { record, expires_at: at.now });
        if planted!(DeleteOnRelease) {
            self.lease = None;
        }
        Outcome::Applied
    }

    /// Leaves a request beside the lease.
    pub(super) fn ask(&mut self, epoch: Epoch, ask: &Ask) -> Outcome {
        let asked = self.lease.as_ref().and_then(|row| {
            let record = row.record.ask(epoch, ask)?;
            Some(LeaseRow { record, expires_at: row.expires_at })
        });
        self.lease_becomes(asked)
    }

    /// Puts the row in the place of the one there is, if there is one to put.
    fn lease_becomes(&mut self, row: Option<LeaseRow>) -> Outcome {
        match row {
            Some(row) => {
                self.lease = Some(row);
                Outcome::Applied
            }
            None => Outcome::Conflict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_written_as_the_version_before_wrote_it() {
        let written = r#"{"epoch":7,"nonce":{"boot":"0000000000000000000000000000000b",
            "attempt":3},"holder":null,"successor":null,"ttl":{"secs":10,"nanos":0},
            "expires_at":12000000,"written_in":2,"granted_in":1,"asked":null}"#;
        let row: LeaseRow = serde_json::from_str(written).expect("it was written so");
        assert_eq!((row.record.granted_in.0, row.expires_at), (1, Moment::from_micros(12_000_000)));
        let written: serde_json::Value = serde_json::from_str(written).expect("it is JSON");
        assert_eq!(serde_json::to_value(&row).expect("it is plain data"), written);
    }
}
