//! The rules of the lease: the specification every driver is measured against.

use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, Nonce};
use baton_core::planted::planted;
use baton_core::protocol::{
    Acquire, Ask, Claim, Expiry, Holder, LeaseSnapshot, NodeRecord, Outcome, Release, Renew,
    TermEnd, Version,
};
use baton_core::time::{Moment, whole_ms};
use serde::{Deserialize, Serialize};

use super::history::Unreleased;
use super::space::{Space, Stamp};
use crate::capability::ExpiryClock;

/// The one record. Never deleted.
#[derive(Clone, Debug, Hash, Serialize, Deserialize)]
pub struct LeaseRow {
    pub(super) epoch: Epoch,
    pub(super) nonce: Nonce,
    pub(super) holder: Option<Holder>,
    pub(super) successor: Option<baton_core::ids::NodeId>,
    pub(super) ttl: Duration,
    pub(super) expires_at: Moment,
    /// The lineage in which the present holder last showed that it has the record.
    pub(super) written_in: Lineage,
    /// The lineage in which the epoch was granted.
    pub(super) granted_in: Lineage,
    pub(super) asked: Option<Ask>,
}

/// The store's own leases are looked through this often, so they end late rather than early.
const REAP_EVERY_MICROS: u64 = 500_000;

impl LeaseRow {
    pub(super) fn version(&self) -> Version {
        Version { epoch: self.epoch, nonce: self.nonce }
    }

    /// Has it run out, by the declared clock? An observer's store cannot tell.
    fn has_expired(&self, clock: ExpiryClock, now: Moment) -> Option<bool> {
        match clock {
            ExpiryClock::Store => Some(now >= self.expires_at),
            ExpiryClock::StoreLease => Some(last_reaping(now) >= self.expires_at),
            ExpiryClock::Observer => None,
        }
    }

    /// When its holder could last act, if that ends now: now, or when the lease ran out.
    fn last_acted_ms(&self, at: Stamp) -> u64 {
        at.wall_ms.saturating_sub(whole_ms(at.now.since(self.expires_at)))
    }

    pub(super) fn snapshot(
        &self,
        clock: ExpiryClock,
        now: Moment,
        holder_is_dead: bool,
    ) -> LeaseSnapshot {
        let expiry = match self.has_expired(clock, now) {
            _ if holder_is_dead => Expiry::Left(Duration::ZERO),
            None => Expiry::Observer,
            Some(true) => Expiry::Left(Duration::ZERO),
            // Between the expiry and the reaping there is something left, though not much.
            Some(false) => Expiry::Left(self.expires_at.since(now).max(Duration::from_millis(1))),
        };
        LeaseSnapshot {
            version: self.version(),
            holder: self.holder.clone(),
            successor: self.successor.clone(),
            ttl: self.ttl,
            expiry,
            lineage: self.written_in,
            asked: self.asked.clone(),
        }
    }
}

fn last_reaping(now: Moment) -> Moment {
    Moment::from_micros(now.as_micros() / REAP_EVERY_MICROS * REAP_EVERY_MICROS)
}

impl Space {
    /// Begins a new term, if the claim holds.
    pub(super) fn acquire(&mut self, at: Stamp, node: &NodeRecord, grant: Acquire) -> Outcome {
        let Some(ended) = self.claim_holds(at.now, &grant) else {
            return Outcome::Conflict;
        };
        let epoch = self.next_epoch(at, &grant);
        let last = ended.map(|end| self.unreleased(at, end));
        let lineage = self.lineage;
        let boot = node.boot;
        self.history.begin(at.wall_ms, epoch, node.id.clone(), boot, last);
        self.lease = Some(LeaseRow {
            epoch,
            nonce: grant.nonce,
            holder: Some(Holder {
                node: node.id.clone(),
                boot,
                lifeline: node.profile.lifeline.clone(),
            }),
            successor: None,
            ttl: grant.ttl,
            expires_at: at.now + grant.ttl,
            written_in: lineage,
            granted_in: lineage,
            asked: None,
        });
        Outcome::Applied
    }

    /// The epoch of the next term: above all that was granted or written in here, above all that
    /// the claimant has seen, and above all that may have been granted and lost.
    fn next_epoch(&self, at: Stamp, grant: &Acquire) -> Epoch {
        let (stored, granted_in) = match &self.lease {
            Some(row) => (row.epoch, row.granted_in),
            None => (Epoch::NONE, self.born_in),
        };
        // A leap for each lineage since: what was granted and lost in one stays below the next
        // one's. Counted from what is stored, not from the floor, which has leapt already.
        let passed = match self.lineage.0.saturating_sub(granted_in.0) {
            _ if planted!(NoLeap) => 0,
            passed if planted!(LeapsMeet) => passed.min(1),
            passed => passed,
        };
        let floor = if planted!(FloorIgnored) { stored } else { grant.floor };
        let stored = if planted!(LeapFromFloor) { stored.max(floor) } else { stored };
        let leapt = Epoch(stored.0.saturating_add(passed.saturating_mul(Epoch::LEAP)));
        if planted!(EpochFromClock) {
            return Epoch(at.wall_ms / 10_000);
        }
        leapt.max(floor).max(self.fence).next()
    }

    /// The end of a term that another node's claim ends: its holder could act until the claim, or
    /// until its lease ran out, and is only known to have acted until it last renewed it.
    fn unreleased(&self, at: Stamp, end: TermEnd) -> Unreleased {
        let row = self.lease.as_ref();
        let renewed = row.map_or(at.now, |row| row.expires_at - row.ttl);
        Unreleased {
            end,
            ended_ms: row.map_or(at.wall_ms, |row| row.last_acted_ms(at)),
            renewed_ms: at.wall_ms.saturating_sub(whole_ms(at.now.since(renewed))),
        }
    }

    /// Does the store know that the holder's process is gone?
    pub(super) fn holder_is_dead(&self) -> bool {
        let holder = self.lease.as_ref().and_then(|row| row.holder.as_ref());
        holder.is_some_and(|holder| self.dead.contains(&holder.boot))
    }

    /// How the last term ends if the claim holds; `None` if it does not hold.
    fn claim_holds(&self, now: Moment, grant: &Acquire) -> Option<Option<TermEnd>> {
        if let Some(row) = &self.lease
            && planted!(StealByLaterExpiry)
            && now + grant.ttl > row.expires_at
        {
            return Some(Some(TermEnd::Expired));
        }
        if grant.lineage != self.lineage {
            return None;
        }
        let Some(row) = &self.lease else {
            return (grant.expect.is_none() && grant.claim == Claim::Vacant).then_some(None);
        };
        if grant.expect != Some(row.version()) {
            return None;
        }
        match (grant.claim, &row.holder) {
            (Claim::Vacant, None) => Some(None),
            (Claim::Expired, Some(_)) if row.has_expired(self.expiry, now).unwrap_or(true) => {
                Some(Some(TermEnd::Expired))
            }
            (Claim::Expired, Some(_)) => self.holder_is_dead().then_some(Some(TermEnd::ProvedDead)),
            (Claim::Dead { boot }, Some(holder)) if holder.boot == boot => {
                let lives = self.sees_deaths && !self.holder_is_dead();
                (!lives).then_some(Some(TermEnd::ProvedDead))
            }
            _ => None,
        }
    }

    /// Goes on with a term.
    pub(super) fn renew(&mut self, at: Stamp, renew: Renew) -> Outcome {
        if renew.lineage != self.lineage {
            return Outcome::Conflict;
        }
        let clock = self.expiry;
        let Some(row) = self.lease.as_mut() else {
            return Outcome::Conflict;
        };
        let expired = row.has_expired(clock, at.now).unwrap_or(false);
        let refused = expired && !planted!(RenewAfterExpiry);
        if row.version() != renew.expect || row.holder.is_none() || refused {
            return Outcome::Conflict;
        }
        row.nonce = renew.nonce;
        row.ttl = renew.ttl;
        row.expires_at = at.now + renew.ttl;
        row.written_in = renew.lineage;
        Outcome::Applied
    }

    /// Clears the holder and keeps everything else.
    pub(super) fn clear_holder(&mut self, at: Stamp, release: Release) -> Outcome {
        let held = |row: &LeaseRow| row.version() == release.expect && row.holder.is_some();
        let Some(row) = self.lease.as_mut().filter(|row| held(row)) else {
            return Outcome::Conflict;
        };
        let ended_ms = row.last_acted_ms(at);
        row.holder = None;
        row.nonce = release.nonce;
        row.successor = release.successor;
        row.expires_at = at.now;
        row.asked = None;
        self.history.end(ended_ms, row.epoch, TermEnd::Released(release.reason));
        if planted!(DeleteOnRelease) {
            self.lease = None;
        }
        Outcome::Applied
    }
}
