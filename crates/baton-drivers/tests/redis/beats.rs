//! Beats of a node, for the tests that go beyond the suite.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, LeaseSnapshot, NodeRecord, Outcome,
    Release, ReleaseReason, Renew, Version, ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

pub fn namespace(name: &str) -> Namespace {
    Namespace::new(name).expect("tests name well")
}

/// Opens a URL that must open.
pub async fn open(url: &str) -> Arc<dyn Store> {
    baton_drivers::open(url).await.expect("the server can be used")
}

/// Asks until the answer is yes, for five seconds at most.
pub async fn until(what: &str, mut ask: impl AsyncFnMut() -> bool) {
    let end = SystemClock.now() + Duration::from_secs(5);
    while !ask().await {
        assert!(SystemClock.now() < end, "{what} did not come true in 5 s");
        SystemClock.sleep(Duration::from_millis(20)).await;
    }
}

/// One process of one node.
pub struct Node {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub boot: BootId,
    pub floor: Epoch,
    pub ttl: Duration,
    attempt: u64,
}

impl Node {
    pub fn new(store: &Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Self {
        let (store, namespace) = (Arc::clone(store), namespace.clone());
        let ttl = Duration::from_secs(60);
        Self { store, namespace, boot: BootId(boot), floor: Epoch::NONE, ttl, attempt: 0 }
    }

    pub fn nonce(&mut self) -> Nonce {
        self.attempt += 1;
        Nonce { boot: self.boot, attempt: self.attempt }
    }

    pub async fn beat(&self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        let node = NodeRecord {
            id: NodeId::new(&format!("node-{}", self.boot.0)).expect("tests name well"),
            boot: self.boot,
            beat: self.attempt,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::default(),
        };
        let known_view = ViewVersion::default();
        self.store
            .beat(
                &self.namespace,
                BeatRequest { node, record_may_wait: false, replaces: None, lease, known_view },
            )
            .await
    }

    pub async fn try_look(&self) -> Result<BeatReply, StoreError> {
        self.beat(LeaseIntent::Observe).await
    }

    pub async fn look(&self) -> BeatReply {
        self.try_look().await.expect("the store answers")
    }

    /// Claims what was seen.
    pub async fn claim(&mut self, seen: &BeatReply, claim: Claim) -> Result<BeatReply, StoreError> {
        let intent = Acquire {
            expect: seen.lease.as_ref().map(|lease| lease.version),
            claim,
            lineage: seen.lineage,
            floor: self.floor,
            nonce: self.nonce(),
            ttl: self.ttl,
        };
        self.beat(LeaseIntent::Acquire(intent)).await
    }

    /// Takes the lease, and must get it.
    pub async fn take(&mut self, claim: Claim) -> LeaseSnapshot {
        let seen = self.look().await;
        let reply = self.claim(&seen, claim).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it was just granted")
    }

    /// Renews what is held, in the lineage last seen.
    pub async fn renew(
        &mut self,
        held: Version,
        seen: &BeatReply,
    ) -> Result<BeatReply, StoreError> {
        let (lineage, nonce, ttl) = (seen.lineage, self.nonce(), self.ttl);
        self.beat(LeaseIntent::Renew(Renew { expect: held, lineage, nonce, ttl })).await
    }

    pub async fn release(&mut self, held: Version) -> Outcome {
        let (nonce, reason) = (self.nonce(), ReleaseReason::Resigned);
        let release = Release { expect: held, nonce, successor: None, reason };
        self.store.release(&self.namespace, release).await.expect("the store answers")
    }
}
