//! The words of one node, for the tests that go beyond the suite.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, Expiry, LeaseIntent, LeaseSnapshot, NodeRecord,
    Outcome, Release, ReleaseReason, Renew, Version, ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

/// The shortest that etcd grants.
pub const TTL: Duration = Duration::from_secs(2);

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn namespace(name: &str) -> Namespace {
    Namespace::new(name).expect("tests name well")
}

pub async fn open(url: &str) -> Arc<dyn Store> {
    baton_drivers::open(url).await.expect("the server answers")
}

/// A node named after its boot, with a handle.
pub struct Node {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub boot: u128,
    pub ttl: Duration,
    attempt: u64,
}

impl Node {
    pub fn new(store: &Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Self {
        let (store, namespace) = (Arc::clone(store), namespace.clone());
        Self { store, namespace, boot, ttl: TTL, attempt: 0 }
    }

    pub async fn beat(&mut self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        self.attempt += 1;
        let node = NodeRecord {
            id: NodeId::new(&format!("node-{}", self.boot)).expect("tests name well"),
            boot: BootId(self.boot),
            beat: self.attempt,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::default(),
        };
        let known_view = ViewVersion::default();
        let beat = BeatRequest { node, record_may_wait: false, replaces: None, lease, known_view };
        self.store.beat(&self.namespace, beat).await
    }

    fn nonce(&self) -> Nonce {
        Nonce { boot: BootId(self.boot), attempt: self.attempt + 1 }
    }

    pub async fn look(&mut self) -> BeatReply {
        self.beat(LeaseIntent::Observe).await.expect("the store answers")
    }

    pub async fn claim(&mut self, claim: Claim) -> Result<BeatReply, StoreError> {
        let seen = self.beat(LeaseIntent::Observe).await?;
        let intent = LeaseIntent::Acquire(Acquire {
            expect: seen.lease.map(|lease| lease.version),
            claim,
            lineage: seen.lineage,
            floor: Epoch::NONE,
            nonce: self.nonce(),
            ttl: self.ttl,
        });
        self.beat(intent).await
    }

    /// Takes the lease on this ground, and must get it.
    pub async fn take(&mut self, ground: Claim) -> LeaseSnapshot {
        let reply = self.claim(ground).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it was just granted")
    }

    pub async fn renew(&mut self, expect: Version) -> Result<BeatReply, StoreError> {
        let (nonce, ttl) = (self.nonce(), self.ttl);
        self.beat(LeaseIntent::Renew(Renew { expect, lineage: Lineage(0), nonce, ttl })).await
    }

    pub async fn release(&mut self, expect: Version) -> Result<Outcome, StoreError> {
        let reason = ReleaseReason::Resigned;
        let release = Release { expect, nonce: self.nonce(), successor: None, reason };
        self.store.release(&self.namespace, release).await
    }
}

/// How much is left of the lease that a reply shows.
pub fn left(reply: &BeatReply) -> Duration {
    match reply.lease.as_ref().expect("there is a lease").expiry {
        Expiry::Left(left) => left,
        Expiry::Observer => unreachable!("etcd judges by its own leases"),
    }
}

/// Waits until `found` finds something; the test fails if it does not in time.
pub async fn until<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let start = SystemClock.now();
    loop {
        if let Some(found) = found().await {
            return found;
        }
        assert!(SystemClock.now().since(start) < PATIENCE, "waited in vain for {what}");
        SystemClock.sleep(Duration::from_millis(20)).await;
    }
}
