//! Beats of a node, for the tests that go beyond the suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, NodeRecord, Outcome, Renew, Version,
    ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

const TTL: Duration = Duration::from_secs(60);

/// A namespace that nobody has used, on a server that other tests may have used before.
pub fn namespace(label: &str) -> Namespace {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let (number, process) = (MADE.fetch_add(1, Ordering::Relaxed), std::process::id());
    let name = format!("{label}-{process}-{}-{number}", SystemClock.wall_ms());
    Namespace::new(&name).expect("tests name well")
}

/// A process of a node that is named after its boot.
pub struct Peer {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub boot: BootId,
    attempts: AtomicU64,
}

impl Peer {
    pub fn new(store: &Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Self {
        let (store, namespace) = (Arc::clone(store), namespace.clone());
        Self { store, namespace, boot: BootId(boot), attempts: AtomicU64::new(0) }
    }

    pub fn id(&self) -> NodeId {
        NodeId::new(&format!("node-{}", self.boot.0)).expect("tests name well")
    }

    pub async fn beat(&self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        self.beat_with(lease, false).await
    }

    /// A look whose record may wait.
    pub async fn calm_look(&self) -> Result<BeatReply, StoreError> {
        self.beat_with(LeaseIntent::Observe, true).await
    }

    async fn beat_with(
        &self,
        lease: LeaseIntent,
        record_may_wait: bool,
    ) -> Result<BeatReply, StoreError> {
        let node = NodeRecord {
            id: self.id(),
            boot: self.boot,
            beat: self.attempts.fetch_add(1, Ordering::Relaxed),
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::default(),
        };
        let known_view = ViewVersion::default();
        let beat = BeatRequest { node, record_may_wait, replaces: None, lease, known_view };
        self.store.beat(&self.namespace, beat).await
    }

    pub async fn look(&self) -> Result<BeatReply, StoreError> {
        self.beat(LeaseIntent::Observe).await
    }

    pub fn next_nonce(&self) -> Nonce {
        Nonce { boot: self.boot, attempt: self.attempts.fetch_add(1, Ordering::Relaxed) }
    }

    /// Claims what a reply showed, with this nonce.
    pub async fn claim(
        &self,
        seen: &BeatReply,
        claim: Claim,
        nonce: Nonce,
    ) -> Result<BeatReply, StoreError> {
        let expect = seen.lease.as_ref().map(|lease| lease.version);
        let (lineage, floor) = (seen.lineage, Epoch::NONE);
        let acquire = Acquire { expect, claim, lineage, floor, nonce, ttl: TTL };
        self.beat(LeaseIntent::Acquire(acquire)).await
    }

    /// Takes the lease on this ground, and must get it.
    pub async fn take(&self, claim: Claim) -> Version {
        let seen = self.look().await.expect("the store answers");
        let reply = self.claim(&seen, claim, self.next_nonce()).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it was just granted").version
    }

    pub async fn renew(&self, expect: Version) -> Result<BeatReply, StoreError> {
        let lineage = baton_core::ids::Lineage(0);
        let renew = Renew { expect, lineage, nonce: self.next_nonce(), ttl: TTL };
        self.beat(LeaseIntent::Renew(renew)).await
    }

    /// Renews, and must be let.
    pub async fn goes_on(&self, held: Version) -> Version {
        let reply = self.renew(held).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it is held").version
    }
}
