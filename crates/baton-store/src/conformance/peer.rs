//! One process that takes part in a case: it numbers its attempts and says what it wants.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, Ask, BeatReply, BeatRequest, Claim, HandoverKind, LeaseIntent, LeaseSnapshot,
    NodeProfile, NodeRecord, Outcome, Recording, Release, ReleaseReason, Renew, Version,
    ViewVersion,
};

use super::case::{CaseError, present, same};
use crate::election::Store;
use crate::error::StoreError;

/// A boot of a node, with a handle of its own. Its fields are what its next beat says.
pub(super) struct Peer {
    pub(super) store: Arc<dyn Store>,
    pub(super) namespace: Namespace,
    pub(super) record: NodeRecord,
    pub(super) recording: Recording,
    pub(super) replaces: Option<BootId>,
    pub(super) known_view: ViewVersion,
    pub(super) ttl: Duration,
    pub(super) floor: Epoch,
    lineage: Lineage,
    attempt: u64,
}

impl Peer {
    pub(super) fn new(
        store: Arc<dyn Store>,
        namespace: Namespace,
        name: &str,
        boot: BootId,
        ttl: Duration,
    ) -> Self {
        let profile = NodeProfile {
            lifeline: Some(Arc::from(format!("127.0.0.1:{}", 7_000 + boot.0 % 1_000))),
            version: "1.2.3".to_owned(),
            ..NodeProfile::default()
        };
        let record = NodeRecord {
            id: NodeId::new(name).expect("the suite names its nodes well"),
            boot,
            beat: 0,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            partitions: None,
            profile: Arc::new(profile),
        };
        Self {
            store,
            namespace,
            record,
            recording: Recording::Write,
            replaces: None,
            known_view: ViewVersion::default(),
            ttl,
            floor: Epoch::NONE,
            lineage: Lineage(0),
            attempt: 0,
        }
    }

    pub(super) fn boot(&self) -> BootId {
        self.record.boot
    }

    pub(super) fn id(&self) -> &NodeId {
        &self.record.id
    }

    /// The nonce of the last attempt.
    pub(super) fn last_nonce(&self) -> Nonce {
        Nonce { boot: self.boot(), attempt: self.attempt }
    }

    fn next_nonce(&mut self) -> Nonce {
        self.attempt += 1;
        self.last_nonce()
    }

    pub(super) async fn beat(&mut self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        self.record.beat += 1;
        let beat = BeatRequest {
            node: self.record.clone(),
            recording: self.recording,
            replaces: self.replaces,
            lease,
            known_view: self.known_view,
        };
        let reply = self.store.beat(&self.namespace, beat).await?;
        self.lineage = reply.lineage;
        Ok(reply)
    }

    pub(super) async fn look(&mut self) -> Result<BeatReply, StoreError> {
        self.beat(LeaseIntent::Observe).await
    }

    /// Claims what an earlier reply showed.
    pub(super) async fn claim(
        &mut self,
        seen: &BeatReply,
        claim: Claim,
    ) -> Result<BeatReply, StoreError> {
        let intent = LeaseIntent::Acquire(Acquire {
            expect: seen.lease.as_ref().map(|lease| lease.version),
            claim,
            lineage: seen.lineage,
            floor: self.floor,
            nonce: self.next_nonce(),
            ttl: self.ttl,
        });
        self.beat(intent).await
    }

    /// Looks, and claims what it sees.
    pub(super) async fn look_and_claim(&mut self, claim: Claim) -> Result<BeatReply, StoreError> {
        let seen = self.look().await?;
        self.claim(&seen, claim).await
    }

    /// Looks, claims what it sees, and must win.
    pub(super) async fn take(&mut self, claim: Claim) -> Result<Version, CaseError> {
        let reply = self.look_and_claim(claim).await?;
        Ok(won(&reply, self)?.version)
    }

    pub(super) async fn renew(&mut self, expect: Version) -> Result<BeatReply, StoreError> {
        let (nonce, ttl) = (self.next_nonce(), self.ttl);
        let lineage = self.lineage;
        self.beat(LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl })).await
    }

    pub(super) async fn release(
        &mut self,
        expect: Version,
        successor: Option<NodeId>,
        reason: ReleaseReason,
    ) -> Result<Outcome, StoreError> {
        let release = Release { expect, nonce: self.next_nonce(), successor, reason };
        self.store.release(&self.namespace, release).await
    }

    /// Gives up what it holds, and must be let.
    pub(super) async fn resign(&mut self, expect: Version) -> Result<(), CaseError> {
        let outcome = self.release(expect, None, ReleaseReason::Resigned).await?;
        same("a release of what is held", outcome, Outcome::Applied)
    }
}

/// The lease that a reply shows.
pub(super) fn shown(reply: &BeatReply) -> Result<&LeaseSnapshot, CaseError> {
    present("the lease in the reply", reply.lease.as_ref())
}

/// The lease after a write of `peer` that must have been applied.
pub(super) fn won<'r>(reply: &'r BeatReply, peer: &Peer) -> Result<&'r LeaseSnapshot, CaseError> {
    same("the outcome", reply.outcome, Some(Outcome::Applied))?;
    let lease = shown(reply)?;
    let holder = lease.holder.as_ref();
    let boot = holder.map(|holder| holder.boot);
    same("the holder's boot", boot, Some(peer.boot()))?;
    same("the nonce", lease.version.nonce, peer.last_nonce())?;
    Ok(lease)
}

/// The lease after a write that must have been refused, and must have left it at `stands`.
pub(super) fn lost(reply: &BeatReply, stands: Version) -> Result<&LeaseSnapshot, CaseError> {
    same("the outcome", reply.outcome, Some(Outcome::Conflict))?;
    let lease = shown(reply)?;
    same("the version that stands", lease.version, stands)?;
    Ok(lease)
}

/// A request to resign, told from other ones by its number.
pub(super) fn ask_resign(number: u64) -> Ask {
    Ask { nonce: Nonce { boot: BootId(77), attempt: number }, wish: HandoverKind::Resign }
}
