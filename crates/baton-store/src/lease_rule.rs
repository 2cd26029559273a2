//! The rule of the lease, as pure functions over its record: who may claim it, go on with it, give
//! it up or leave a request beside it, at which epoch a term begins, and what the term history
//! says.
//!
//! ```text
//!   the record as it is ─┐
//!   Facts of this moment ┼─► acquire, renew, release, ask ──► the record as it is to be,
//!   what is asked for ───┘                                    or None: a conflict
//!                            begin_term ──► the last term's end and the new term
//! ```
//!
//! The memory store is this rule behind a lock. A driver whose server cannot run the rule itself
//! calls it between a read and a conditional write. What the time is, and which processes live, is
//! for the store to know: it comes in as [`Facts`].

use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, NodeId, Nonce};
use baton_core::planted::planted;
use baton_core::protocol::{
    Acquire, Ask, Claim, Expiry, Holder, LeaseSnapshot, NodeRecord, Release, Renew, TermEnd,
    TermRecord, Version,
};
use serde::{Deserialize, Serialize};

/// The one record of a namespace, as far as every store keeps it. Never deleted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// The term.
    pub epoch: Epoch,
    /// The write.
    pub nonce: Nonce,
    /// The process that holds it; `None` after a release.
    pub holder: Option<Holder>,
    /// The node that the last holder named when it released.
    pub successor: Option<NodeId>,
    /// How long the holder asked for.
    pub ttl: Duration,
    /// The lineage in which the present holder last showed that it has the record.
    #[serde(default = "first_lineage")]
    pub written_in: Lineage,
    /// The lineage in which the epoch was granted.
    #[serde(default = "first_lineage")]
    pub granted_in: Lineage,
    /// What was asked of the holder.
    pub asked: Option<Ask>,
}

/// A store that never changes its lineage need not write it down.
fn first_lineage() -> Lineage {
    Lineage(0)
}

/// What a store knows of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It is seen to live.
    Alive,
    /// It is known to be gone.
    Gone,
    /// The store does not see processes.
    Unknown,
}

/// What holds at the moment of a step.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The lineage of the data.
    pub lineage: Lineage,
    /// Has the lease run out? `None` where only an observer can tell.
    pub has_expired: Option<bool>,
    /// What is known of the holder's process. Asked only if the claim depends on it.
    pub holder: &'a dyn Fn() -> Liveness,
}

/// What a new epoch must be above, beside the epoch of the record.
#[derive(Clone, Copy, Debug)]
pub struct EpochBounds {
    /// The lineage in which the namespace was first written to: a copy from before its first term
    /// has no record to tell by that terms may have been lost.
    pub born_in: Lineage,
    /// The highest epoch that a write carried.
    pub fence: Epoch,
}

/// A claim that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The record of the new term.
    pub record: LeaseRecord,
    /// How the claim ends the last term, if its holder did not.
    pub ends: Option<TermEnd>,
}

impl LeaseRecord {
    /// Which state of the record this is.
    pub fn version(&self) -> Version {
        Version { epoch: self.epoch, nonce: self.nonce }
    }

    /// What a reply shows of it.
    pub fn snapshot(&self, expiry: Expiry) -> LeaseSnapshot {
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

    fn is_held_at(&self, version: Version) -> bool {
        self.version() == version && self.holder.is_some()
    }

    /// The record of a term that goes on, if the renewal holds.
    #[must_use]
    pub fn renew(&self, facts: Facts<'_>, renew: &Renew) -> Option<Self> {
        let expired = facts.has_expired.unwrap_or(false) && !planted!(RenewAfterExpiry);
        let holds = self.is_held_at(renew.expect) && renew.lineage == facts.lineage && !expired;
        holds.then(|| Self {
            nonce: renew.nonce,
            ttl: renew.ttl,
            written_in: renew.lineage,
            ..self.clone()
        })
    }

    /// The record without its holder, if it is held at the expected version.
    #[must_use]
    pub fn release(&self, release: &Release) -> Option<Self> {
        self.is_held_at(release.expect).then(|| Self {
            nonce: release.nonce,
            holder: None,
            successor: release.successor.clone(),
            asked: None,
            ..self.clone()
        })
    }

    /// The record with a request beside it, if this term is held.
    #[must_use]
    pub fn ask(&self, epoch: Epoch, ask: &Ask) -> Option<Self> {
        let holds = self.epoch == epoch && self.holder.is_some();
        holds.then(|| Self { asked: Some(ask.clone()), ..self.clone() })
    }
}

/// The record of a new term, if the claim holds.
#[must_use]
pub fn acquire(
    record: Option<&LeaseRecord>,
    facts: Facts<'_>,
    bounds: EpochBounds,
    node: &NodeRecord,
    acquire: &Acquire,
) -> Option<Granted> {
    let ends = claim_holds(record, facts, acquire)?;
    let lifeline = node.profile.lifeline.clone();
    let granted = LeaseRecord {
        epoch: next_epoch(record, facts.lineage, bounds, acquire.floor),
        nonce: acquire.nonce,
        holder: Some(Holder { node: node.id.clone(), boot: node.boot, lifeline }),
        successor: None,
        ttl: acquire.ttl,
        written_in: facts.lineage,
        granted_in: facts.lineage,
        asked: None,
    };
    Some(Granted { record: granted, ends })
}

/// How the last term ends if the claim holds; `None` if it does not hold.
fn claim_holds(
    record: Option<&LeaseRecord>,
    facts: Facts<'_>,
    acquire: &Acquire,
) -> Option<Option<TermEnd>> {
    let expect = record.map(LeaseRecord::version);
    if acquire.lineage != facts.lineage || acquire.expect != expect {
        return None;
    }
    match (acquire.claim, record.and_then(|record| record.holder.as_ref())) {
        (Claim::Vacant, None) => Some(None),
        // An observer has watched the version for long enough before it claims.
        (Claim::Expired, Some(_)) if facts.has_expired.unwrap_or(true) => {
            Some(Some(TermEnd::Expired))
        }
        (Claim::Expired, Some(_)) if (facts.holder)() == Liveness::Gone => {
            Some(Some(TermEnd::ProvedDead))
        }
        (Claim::Dead { boot }, Some(holder)) if holder.boot == boot => {
            ((facts.holder)() != Liveness::Alive).then_some(Some(TermEnd::ProvedDead))
        }
        _ => None,
    }
}

/// The epoch of the next term: above all that was granted or written in here, above all that the
/// claimant has seen, and above all that may have been granted and lost.
fn next_epoch(
    record: Option<&LeaseRecord>,
    lineage: Lineage,
    bounds: EpochBounds,
    floor: Epoch,
) -> Epoch {
    let granted = record.map(|record| (record.epoch, record.granted_in));
    let (stored, granted_in) = granted.unwrap_or((Epoch::NONE, bounds.born_in));
    // A leap for each lineage since: what was granted and lost in one stays below the next one's.
    // Counted from what is stored, not from the floor, which has leapt already.
    let passed = match lineage.0.saturating_sub(granted_in.0) {
        _ if planted!(NoLeap) => 0,
        passed if planted!(LeapsMeet) => passed.min(1),
        passed => passed,
    };
    let floor = if planted!(FloorIgnored) { stored } else { floor };
    let stored = if planted!(LeapFromFloor) { stored.max(floor) } else { stored };
    let leapt = Epoch(stored.0.saturating_add(passed.saturating_mul(Epoch::LEAP)));
    leapt.max(floor).max(bounds.fence).next()
}

/// The end of a term that its holder did not release.
#[derive(Clone, Copy, Debug)]
pub struct UnreleasedEnd {
    /// How it ended.
    pub end: TermEnd,
    /// When its holder could last act.
    pub ended_ms: u64,
    /// When its holder last renewed it, after which it may have been paused or dead.
    pub renewed_ms: u64,
}

/// The last term of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastTerm {
    /// There is none.
    None,
    /// It has no end yet.
    Open,
    /// It ended then.
    Ended(u64),
}

/// What a granted claim changes in the term history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermChange {
    /// When and how the last term ended, if it has no end yet.
    pub closes: Option<(u64, TermEnd)>,
    /// The term that begins.
    pub begins: TermRecord,
}

/// The term that begins now with this holder, and the end of the last one.
#[must_use]
pub fn begin_term(
    wall_ms: u64,
    epoch: Epoch,
    node: &NodeRecord,
    last: LastTerm,
    unreleased: Option<UnreleasedEnd>,
) -> TermChange {
    let since = |then_ms: u64| wall_ms.saturating_sub(then_ms);
    let closed = unreleased.filter(|_| last == LastTerm::Open);
    let ended_ms = match last {
        LastTerm::Ended(at) => Some(at),
        LastTerm::None | LastTerm::Open => closed.map(|last| last.ended_ms),
    };
    TermChange {
        closes: closed.map(|last| (last.ended_ms, last.end)),
        begins: TermRecord {
            epoch,
            node: node.id.clone(),
            boot: node.boot,
            began_ms: wall_ms,
            ended: None,
            gap_ms: ended_ms.map(since),
            gap_at_most_ms: closed.map(|last| since(last.renewed_ms)),
        },
    }
}
