//! The lease: the one record per namespace that says who may lead. It is never deleted.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::{BootId, Epoch, Lineage, NodeId, Nonce};

/// Who holds the lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The node.
    pub node: NodeId,
    /// The very process: a restart of the node is another holder.
    pub boot: BootId,
    /// Where its lifeline listens, if it has one.
    pub lifeline: Option<Arc<str>>,
}

/// One state of the record. Every write of the lease changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version {
    /// The term.
    pub epoch: Epoch,
    /// The write.
    pub nonce: Nonce,
}

/// Which clock judges when the lease is over, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expiry {
    /// The store's clock, or the store's own lease: this much is left.
    Left(Duration),
    /// The observer's clock alone: it counts from when it first received this version.
    Observer,
}

impl Expiry {
    /// How much is left; `None` if only observers can tell.
    pub fn left(self) -> Option<Duration> {
        match self {
            Self::Left(left) => Some(left),
            Self::Observer => None,
        }
    }
}

/// The lease as one reply showed it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseSnapshot {
    /// Which state of the record this is.
    pub version: Version,
    /// Who holds it; `None` after a release.
    pub holder: Option<Holder>,
    /// Whom the last holder named when it released.
    pub successor: Option<NodeId>,
    /// How long the holder asked for.
    pub ttl: Duration,
    /// When it is over.
    pub expiry: Expiry,
    /// The lineage in which it was last written.
    pub lineage: Lineage,
    /// The request that was left for the holder.
    pub asked: Option<Ask>,
}

impl LeaseSnapshot {
    /// Is this boot the holder?
    pub fn is_held_by(&self, boot: BootId) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.boot == boot)
    }

    /// The holder of a lease that is not known to be over.
    pub fn leader(&self) -> Option<&Holder> {
        self.holder.as_ref().filter(|_| self.expiry != Expiry::Left(Duration::ZERO))
    }
}

/// What a beat wants of the lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaseIntent {
    /// Nothing: just show it.
    Observe,
    /// Begin a new term.
    ///
    /// `Applied` if the record is still at `expect` *and* the claim holds; the new epoch is above
    /// the stored one, the floor, and every epoch that a write has carried. Otherwise `Conflict`.
    Acquire(Acquire),
    /// Go on with a term.
    ///
    /// `Applied` if the record is at `expect`, the store in `lineage`, and, where the store can
    /// judge, the lease has not expired. The epoch stays.
    Renew(Renew),
}

/// A claim on the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Acquire {
    /// The version last seen; `None` if the namespace never had a lease.
    pub expect: Option<Version>,
    /// Why it should be free.
    pub claim: Claim,
    /// The store's lineage as last seen. `Conflict` if it has moved: a claim that was under way
    /// while the data went back must not land on the older copy.
    pub lineage: Lineage,
    /// The highest epoch this node ever saw.
    pub floor: Epoch,
    /// The nonce of this attempt.
    pub nonce: Nonce,
    /// How long to hold it.
    pub ttl: Duration,
}

/// A renewal of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Renew {
    /// The version held.
    pub expect: Version,
    /// The store's lineage as last seen.
    pub lineage: Lineage,
    /// The nonce of this attempt.
    pub nonce: Nonce,
    /// How long to hold it from now.
    pub ttl: Duration,
}

/// A release of the lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Release {
    /// The version held.
    pub expect: Version,
    /// The nonce of this attempt.
    pub nonce: Nonce,
    /// Who should take it up without waiting.
    pub successor: Option<NodeId>,
    /// Why, for the term history.
    pub reason: ReleaseReason,
}

/// Why a lease may be taken. The store checks what it can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It has no holder. Every store checks that.
    Vacant,
    /// It has expired. A store with a clock or leases checks that; on one without, the claimant has
    /// watched the same version for long enough.
    Expired,
    /// Its holder's process is proved dead. Checked against the holder's boot.
    Dead {
        /// The boot that is gone.
        boot: BootId,
    },
}

/// A request to the holder. Kept with the lease until its term ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// Tells this request from an equal one made earlier.
    pub nonce: Nonce,
    /// What kind of handover is asked for.
    pub wish: HandoverKind,
}

/// What can be asked of the holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandoverKind {
    /// Give up, and let the policy decide who is next.
    Resign,
    /// Hand over to this node.
    Transfer(NodeId),
}

/// Why a holder gave the lease up, as the term history keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReleaseReason {
    /// Its process is stopping.
    Shutdown,
    /// It was asked to resign.
    Resigned,
    /// It was asked to hand over to a named node.
    Transferred,
    /// The policy prefers another node, and the mandate is over.
    Preempted,
    /// Its plugins did not start.
    PluginsFailed,
    /// It may not lead any more: drained, made ineligible or unhealthy.
    NotEligible,
    /// Its window ran out before a renewal came through.
    WindowClosed,
    /// A newer process took its node's id over.
    Superseded,
    /// A later epoch was written in, though the store does not show its grant.
    FencedOff,
    /// It never took the grant up: it learnt of it too late, or may not lead any more.
    GivenBack,
}
