//! The requests that tests make: one node, one namespace.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, NodeProfile, NodeRecord, Outcome, Renew,
    Version, ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

pub fn namespace(name: &str) -> Namespace {
    Namespace::new(name).expect("tests name their namespaces well")
}

/// A boot of a node, and the attempts it has made.
pub struct Peer {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub record: NodeRecord,
    pub ttl: Duration,
    attempt: u64,
    lineage: Lineage,
}

impl Peer {
    pub fn new(store: Arc<dyn Store>, space: &str, name: &str, boot: u128) -> Self {
        let record = NodeRecord {
            id: NodeId::new(name).expect("tests name their nodes well"),
            boot: BootId(boot),
            beat: 0,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::new(NodeProfile::default()),
        };
        let ttl = Duration::from_secs(60);
        let (attempt, lineage) = (0, Lineage(0));
        Self { store, namespace: namespace(space), record, ttl, attempt, lineage }
    }

    pub async fn open(url: &str, space: &str, name: &str, boot: u128) -> Self {
        let store = baton_drivers::open(url).await.expect("it can be opened");
        Self::new(store, space, name, boot)
    }

    pub async fn beat(&mut self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        self.record.beat += 1;
        let known_view = ViewVersion::default();
        let beat = BeatRequest {
            node: self.record.clone(),
            record_may_wait: false,
            replaces: None,
            lease,
            known_view,
        };
        let reply = self.store.beat(&self.namespace, beat).await?;
        self.lineage = reply.lineage;
        Ok(reply)
    }

    pub async fn look(&mut self) -> Result<BeatReply, StoreError> {
        self.beat(LeaseIntent::Observe).await
    }

    /// The nonce of the last attempt.
    pub fn last_nonce(&self) -> Nonce {
        Nonce { boot: self.record.boot, attempt: self.attempt }
    }

    pub fn next_nonce(&mut self) -> Nonce {
        self.attempt += 1;
        self.last_nonce()
    }

    /// A claim of what was last seen.
    pub fn claim_on(&mut self, expect: Option<Version>, claim: Claim) -> LeaseIntent {
        let (lineage, floor, ttl) = (self.lineage, Epoch::NONE, self.ttl);
        let nonce = self.next_nonce();
        LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl })
    }

    /// Looks, and claims what it sees.
    pub async fn claim(&mut self, claim: Claim) -> Result<BeatReply, StoreError> {
        let seen = self.look().await?.lease.map(|lease| lease.version);
        let claim = self.claim_on(seen, claim);
        self.beat(claim).await
    }

    /// Looks, claims, and must win.
    pub async fn take(&mut self, claim: Claim) -> Version {
        let reply = self.claim(claim).await.expect("the server answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it was just granted").version
    }

    pub fn renewal(&mut self, expect: Version) -> LeaseIntent {
        let (lineage, ttl) = (self.lineage, self.ttl);
        LeaseIntent::Renew(Renew { expect, lineage, nonce: self.next_nonce(), ttl })
    }

    pub async fn renew(&mut self, expect: Version) -> Result<BeatReply, StoreError> {
        let renewal = self.renewal(expect);
        self.beat(renewal).await
    }

    /// Beats until the server answers again; the handle stays the same.
    pub async fn look_until_answered(&mut self) -> BeatReply {
        let until = SystemClock.now() + Duration::from_secs(20);
        loop {
            match self.look().await {
                Ok(reply) => return reply,
                Err(error) => assert!(SystemClock.now() < until, "still {error}"),
            }
            SystemClock.sleep(Duration::from_millis(20)).await;
        }
    }
}
