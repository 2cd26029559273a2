//! One node's beats, for the tests that go beyond the suite.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, NodeRecord, Outcome, Release,
    ReleaseReason, Renew, Version, ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn namespace(name: &str) -> Namespace {
    Namespace::new(name).expect("tests name well")
}

/// A node, with what it last saw.
pub struct Node {
    pub store: Arc<dyn Store>,
    pub namespace: Namespace,
    pub ttl: Duration,
    pub floor: Epoch,
    pub record: NodeRecord,
    attempts: u64,
}

impl Node {
    pub fn new(store: Arc<dyn Store>, namespace: &Namespace, boot: u128) -> Self {
        let record = NodeRecord {
            id: NodeId::new(&format!("node-{boot}")).expect("tests name well"),
            boot: BootId(boot),
            beat: 1,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            profile: Arc::default(),
        };
        let (ttl, floor) = (Duration::from_secs(60), Epoch::NONE);
        Self { store, namespace: namespace.clone(), ttl, floor, record, attempts: 0 }
    }

    pub async fn beat(&self, lease: LeaseIntent) -> Result<BeatReply, StoreError> {
        let known_view = ViewVersion::default();
        let beat = BeatRequest {
            node: self.record.clone(),
            record_may_wait: false,
            replaces: None,
            lease,
            known_view,
        };
        self.store.beat(&self.namespace, beat).await
    }

    pub async fn look(&self) -> BeatReply {
        self.beat(LeaseIntent::Observe).await.expect("the store answers")
    }

    pub fn next_nonce(&mut self) -> Nonce {
        self.attempts += 1;
        Nonce { boot: self.record.boot, attempt: self.attempts }
    }

    /// What stands after the last attempt, if it took place.
    pub fn last_nonce(&self) -> Nonce {
        Nonce { boot: self.record.boot, attempt: self.attempts }
    }

    /// Claims what a look shows.
    pub async fn claim(&mut self, claim: Claim) -> Result<BeatReply, StoreError> {
        let seen = self.look().await;
        self.claim_on(&seen, claim).await
    }

    pub async fn claim_on(
        &mut self,
        seen: &BeatReply,
        claim: Claim,
    ) -> Result<BeatReply, StoreError> {
        let expect = seen.lease.as_ref().map(|lease| lease.version);
        let (lineage, floor, ttl) = (seen.lineage, self.floor, self.ttl);
        let nonce = self.next_nonce();
        let acquire = Acquire { expect, claim, lineage, floor, nonce, ttl };
        self.beat(LeaseIntent::Acquire(acquire)).await
    }

    /// Takes the lease, and must get it.
    pub async fn take(&mut self, claim: Claim) -> Version {
        let reply = self.claim(claim).await.expect("the store answers");
        assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
        reply.lease.expect("it was just granted").version
    }

    /// Goes on with the term that the reply showed.
    pub async fn renew_on(&mut self, seen: &BeatReply) -> Result<BeatReply, StoreError> {
        let expect = seen.lease.as_ref().expect("there is a lease").version;
        let (lineage, ttl, nonce) = (seen.lineage, self.ttl, self.next_nonce());
        self.beat(LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl })).await
    }

    pub async fn release(&mut self, expect: Version) -> Outcome {
        let (nonce, reason) = (self.next_nonce(), ReleaseReason::Shutdown);
        let release = Release { expect, nonce, successor: None, reason };
        self.store.release(&self.namespace, release).await.expect("the store answers")
    }

    /// Looks until the store answers again.
    pub async fn look_until_it_answers(&self) -> BeatReply {
        eventually("an answer", || async { self.beat(LeaseIntent::Observe).await.ok() }).await
    }
}

/// Waits for what must come; `None` if it does not.
pub async fn soon<T>(work: impl Future<Output = Option<T>>) -> Option<T> {
    tokio::select! {
        found = work => found,
        () = SystemClock.sleep(PATIENCE) => None,
    }
}

/// Tries until something is there.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> T {
    let until = SystemClock.now() + PATIENCE;
    loop {
        if let Some(found) = attempt().await {
            return found;
        }
        assert!(SystemClock.now() < until, "{what}: not within {PATIENCE:?}");
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}
