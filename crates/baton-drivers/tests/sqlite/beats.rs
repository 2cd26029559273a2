//! Beats of a node, for the tests that go beyond the suite.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, LeaseSnapshot, NodeRecord, Outcome,
    Recording, ViewVersion,
};
use baton_store::Store;
pub use baton_testbed::contender::namespace;

pub const TTL: Duration = Duration::from_secs(60);

/// The beat of a node that is named after its boot.
pub fn beat(boot: u128, lease: LeaseIntent) -> BeatRequest {
    let node = NodeRecord {
        id: NodeId::new(&format!("node-{boot}")).expect("tests name well"),
        boot: BootId(boot),
        beat: 1,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch::NONE,
        partitions: None,
        profile: Arc::default(),
    };
    let known_view = ViewVersion::default();
    BeatRequest { node, recording: Recording::Write, replaces: None, lease, known_view }
}

pub async fn look(store: &dyn Store, namespace: &Namespace, boot: u128) -> BeatReply {
    let reply = store.beat(namespace, beat(boot, LeaseIntent::Observe)).await;
    reply.expect("the store answers")
}

/// Claims what is seen with this claim.
pub async fn claim(
    store: &dyn Store,
    namespace: &Namespace,
    boot: u128,
    claim: Claim,
) -> BeatReply {
    let seen = look(store, namespace, boot).await;
    let intent = LeaseIntent::Acquire(Acquire {
        expect: seen.lease.map(|lease| lease.version),
        claim,
        lineage: seen.lineage,
        floor: Epoch::NONE,
        nonce: Nonce { boot: BootId(boot), attempt: seen.lineage.0 },
        ttl: TTL,
    });
    store.beat(namespace, beat(boot, intent)).await.expect("the store answers")
}

/// Takes the lease with this claim, and must get it.
pub async fn take(
    store: &dyn Store,
    namespace: &Namespace,
    boot: u128,
    reason: Claim,
) -> LeaseSnapshot {
    let reply = claim(store, namespace, boot, reason).await;
    assert_eq!(reply.outcome, Some(Outcome::Applied), "{reply:?}");
    reply.lease.expect("it was just granted")
}
