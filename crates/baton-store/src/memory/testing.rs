//! A memory store for the unit tests of this crate: everything declared, time moved by hand.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatRequest, Claim, LeaseIntent, NodeRecord, Recording, ViewVersion,
};

use super::store::MemoryStore;
use crate::capability::{Capability, Class, Declaration, ExpiryClock};
use crate::clock::ManualClock;

/// A single server that can do everything.
pub fn store(clock: Arc<ManualClock>) -> Arc<MemoryStore> {
    let declaration = Declaration {
        name: "memory".to_owned(),
        class: Class::SingleServer,
        expiry: ExpiryClock::Store,
        capabilities: Capability::ALL.into(),
    };
    Arc::new(MemoryStore::new(declaration, clock))
}

/// A namespace.
pub fn namespace() -> Namespace {
    Namespace::new("web").expect("it is a valid name")
}

/// The beat of a node that claims the lease of an empty namespace.
pub fn first_claim(ttl: Duration) -> BeatRequest {
    let boot = BootId(1);
    BeatRequest {
        node: NodeRecord {
            id: NodeId::new("a").expect("it is a valid name"),
            boot,
            beat: 1,
            eligible: true,
            draining: false,
            load: 0,
            seen: Epoch::NONE,
            partitions: None,
            profile: Arc::default(),
        },
        recording: Recording::Write,
        replaces: None,
        lease: LeaseIntent::Acquire(Acquire {
            expect: None,
            claim: Claim::Vacant,
            lineage: Lineage(0),
            floor: Epoch::NONE,
            nonce: Nonce { boot, attempt: 1 },
            ttl,
        }),
        known_view: ViewVersion::default(),
    }
}
