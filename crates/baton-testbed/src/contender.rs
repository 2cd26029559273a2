//! One node's words to a store, without a core behind them: for tests that go beyond the suite.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, Expiry, LeaseIntent, NodeRecord, Outcome, Recording,
    Release, ReleaseReason, Renew, Version, ViewVersion,
};
use baton_store::{Store, StoreError};

use crate::subject::Names;
use crate::wait::until;

/// The namespace of this name.
///
/// # Panics
///
/// If it is not one.
pub fn namespace(name: &str) -> Namespace {
    Namespace::new(name).expect("tests name well")
}

/// How much is left of the lease that a reply shows.
///
/// # Panics
///
/// If it shows none, or the store does not judge by a clock.
pub fn left(reply: &BeatReply) -> Duration {
    match reply.lease.as_ref().expect("there is a lease").expiry {
        Expiry::Left(left) => left,
        Expiry::Observer => unreachable!("the store judges by a clock"),
    }
}

/// The version of the lease that a reply shows.
///
/// # Panics
///
/// If it shows none.
pub fn held_in(reply: &BeatReply) -> Version {
    reply.lease.as_ref().expect("there is a lease").version
}

/// A namespace that no test has used, on a server that other tests may have used before.
pub fn fresh_namespace(label: &str) -> Namespace {
    Names::new().next(label)
}

/// One boot of a node that is named after it. It does what it is told, and decides nothing.
///
/// What must be answered panics if it is not: a test that expects a failure uses `try_…`.
pub struct Contender {
    /// The handle it speaks through.
    pub store: Arc<dyn Store>,
    /// Where it contends.
    pub namespace: Namespace,
    /// What it says of itself; its beats are counted from here.
    pub record: NodeRecord,
    /// How long the leases last that it asks for: a minute, unless it is told otherwise.
    pub ttl: Duration,
    /// The epoch that its claims must go beyond.
    pub floor: Epoch,
    progress: Mutex<Progress>,
}

struct Progress {
    beats: u64,
    attempts: u64,
    lineage: Lineage,
}

impl Contender {
    /// The node `node-<boot>`, which has not beaten yet.
    pub fn new(store: &Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Self {
        let record = NodeRecord {
            id: NodeId::new(&format!("node-{boot}")).expect("that is a name"),
            boot: BootId(boot),
            beat: 0,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            partitions: None,
            profile: Arc::default(),
        };
        let (store, namespace) = (Arc::clone(store), namespace.clone());
        let (ttl, floor) = (Duration::from_secs(60), Epoch::NONE);
        let progress = Mutex::new(Progress { beats: 0, attempts: 0, lineage: Lineage(0) });
        Self { store, namespace, record, ttl, floor, progress }
    }

    /// The same, asking for leases of this length.
    pub fn with_ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// Its id.
    pub fn id(&self) -> NodeId {
        self.record.id.clone()
    }

    /// Its boot.
    pub fn boot(&self) -> BootId {
        self.record.boot
    }

    /// How far its beats have counted.
    pub fn last_beat(&self) -> u64 {
        self.record.beat.saturating_add(self.progress().beats)
    }

    /// The nonce of the last attempt.
    pub fn last_nonce(&self) -> Nonce {
        Nonce { boot: self.boot(), attempt: self.progress().attempts }
    }

    /// A nonce that was not used.
    pub fn next_nonce(&self) -> Nonce {
        self.progress().attempts += 1;
        self.last_nonce()
    }

    /// Beats with this intent.
    pub async fn beat(&self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        self.beat_with(lease, Recording::Write).await
    }

    async fn beat_with(
        &self,
        lease: LeaseIntent,
        recording: Recording,
    ) -> Result<BeatReply, StoreError> {
        self.progress().beats += 1;
        let node = NodeRecord { beat: self.last_beat(), ..self.record.clone() };
        let known_view = ViewVersion::default();
        let beat = BeatRequest { node, recording, replaces: None, lease, known_view };
        let reply = self.store.beat(&self.namespace, beat).await?;
        self.progress().lineage = reply.lineage;
        Ok(reply)
    }

    /// Looks, and may fail.
    pub async fn try_look(&self) -> Result<BeatReply, StoreError> {
        self.beat(LeaseIntent::Observe).await
    }

    /// Looks; the record may wait.
    pub async fn calm_look(&self) -> Result<BeatReply, StoreError> {
        self.beat_with(LeaseIntent::Observe, Recording::MayWait).await
    }

    /// Looks between two beats.
    pub async fn glance(&self) -> Result<BeatReply, StoreError> {
        self.beat_with(LeaseIntent::Observe, Recording::Leave).await
    }

    /// Looks, and must be answered.
    pub async fn look(&self) -> BeatReply {
        self.try_look().await.expect("the store answers")
    }

    /// Looks until the store answers again; the handle stays the same.
    pub async fn look_until_answered(&self) -> BeatReply {
        until("an answer", async || self.try_look().await.ok()).await
    }

    /// Looks, and claims what it sees.
    pub async fn claim(&self, claim: Claim) -> Result<BeatReply, StoreError> {
        let seen = self.try_look().await?;
        self.claim_on(&seen, claim).await
    }

    /// Claims what a reply showed.
    pub async fn claim_on(&self, seen: &BeatReply, claim: Claim) -> Result<BeatReply, StoreError> {
        let expect = seen.lease.as_ref().map(|lease| lease.version);
        let (lineage, floor, ttl) = (seen.lineage, self.floor, self.ttl);
        let acquire = Acquire { expect, claim, lineage, floor, nonce: self.next_nonce(), ttl };
        self.beat(LeaseIntent::Acquire(acquire)).await
    }

    /// Looks, claims what it sees, and must get it.
    pub async fn take(&self, claim: Claim) -> Version {
        let reply = self.claim(claim).await.expect("the store answers");
        applied(&reply)
    }

    /// Renews what it holds, in the lineage it last saw.
    pub async fn renew(&self, held: Version) -> Result<BeatReply, StoreError> {
        let lineage = self.progress().lineage;
        let (nonce, ttl) = (self.next_nonce(), self.ttl);
        self.beat(LeaseIntent::Renew(Renew { expect: held, lineage, nonce, ttl })).await
    }

    /// Renews, and must be let.
    pub async fn goes_on(&self, held: Version) -> Version {
        let reply = self.renew(held).await.expect("the store answers");
        applied(&reply)
    }

    /// Gives up what it holds, and may fail.
    pub async fn try_release(&self, held: Version) -> Result<Outcome, StoreError> {
        let (nonce, reason) = (self.next_nonce(), ReleaseReason::Resigned);
        let release = Release { expect: held, nonce, successor: None, reason };
        self.store.release(&self.namespace, release).await
    }

    /// Gives up what it holds, and must be answered.
    pub async fn release(&self, held: Version) -> Outcome {
        self.try_release(held).await.expect("the store answers")
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().expect("no holder panics")
    }
}

fn applied(reply: &BeatReply) -> Version {
    assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
    held_in(reply)
}
