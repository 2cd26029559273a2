//! Snapshots of a store in memory, whose time is an argument.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, BeatRequest, Claim, LeaseIntent, NodeProfile, NodeRecord, Outcome, Recording, Version,
    ViewVersion,
};
use baton_core::settings::Settings;
use baton_store::clock::ManualClock;
use baton_store::memory::MemoryStore;
use baton_store::{Capability, Class, Declaration, ExpiryClock, Store};

use super::{Change, Snapshot, State, changes, first, gather, render};

const TTL: Duration = Duration::from_secs(10);

struct Stage {
    clock: Arc<ManualClock>,
    store: MemoryStore,
}

impl Stage {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let declaration = Declaration {
            name: "memory".to_owned(),
            class: Class::SingleServer,
            expiry: ExpiryClock::Store,
            capabilities: [Capability::MemberAge].into(),
        };
        let store = MemoryStore::new(declaration, clock.clone());
        Self { clock, store }
    }

    async fn look(&self) -> Snapshot {
        let settings = Settings::default().tune(|it| it.worker_timeout = TTL * 2);
        let seen = gather(&self.store, "memory://", &namespace(), &settings).await;
        seen.expect("it answers")
    }

    async fn beat(&self, node: NodeRecord, lease: LeaseIntent) -> Option<Outcome> {
        let known_view = ViewVersion::default();
        let beat =
            BeatRequest { node, recording: Recording::Write, replaces: None, lease, known_view };
        self.store.beat(&namespace(), beat).await.expect("it answers").outcome
    }

    /// The first term of this node.
    async fn take(&self, node: NodeRecord, expect: Option<Version>, claim: Claim) {
        let nonce = Nonce { boot: node.boot, attempt: 1 };
        let (lineage, floor) = (Lineage(0), Epoch::NONE);
        let intent =
            LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl: TTL });
        assert_eq!(self.beat(node, intent).await, Some(Outcome::Applied));
    }
}

fn namespace() -> Namespace {
    Namespace::new("space").expect("valid")
}

fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("valid")
}

fn record(name: &str, boot: u128) -> NodeRecord {
    NodeRecord {
        id: id(name),
        boot: BootId(boot),
        beat: 1,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch::NONE,
        partitions: None,
        profile: Arc::new(NodeProfile::default()),
    }
}

fn states(snapshot: &Snapshot) -> Vec<State> {
    snapshot.members.iter().map(|member| member.state).collect()
}

#[tokio::test]
async fn each_member_is_shown_as_what_it_is() {
    let stage = Stage::new();
    let before = stage.look().await;
    assert_eq!((before.epoch, before.coordinator.is_some()), (0, false));
    stage.beat(record("e-silent", 5), LeaseIntent::Observe).await;
    stage.clock.advance(TTL * 2 + Duration::from_millis(1));
    stage.take(record("a", 1), None, Claim::Vacant).await;
    stage.beat(record("b", 2), LeaseIntent::Observe).await;
    stage.beat(NodeRecord { eligible: false, ..record("c", 3) }, LeaseIntent::Observe).await;
    stage.beat(NodeRecord { draining: true, ..record("d", 4) }, LeaseIntent::Observe).await;
    let after = stage.look().await;
    let expected =
        [State::Leader, State::Candidate, State::Observer, State::Draining, State::Silent];
    assert_eq!(states(&after), expected);
    let leader = after.coordinator.as_ref().expect("a leads");
    assert_eq!((leader.node.as_str(), leader.lease_left_ms), ("a", Some(10_000)));
    let told = changes(&before, &after);
    let leads = Change::Leader { previous: None, new: Some(id("a")), epoch: 1 };
    assert_eq!(told.first(), Some(&leads));
    assert_eq!(told.len(), 6, "{told:?}");
}

#[tokio::test]
async fn a_lease_that_is_over_shows_no_leader_and_its_holder_is_silent() {
    let stage = Stage::new();
    stage.take(record("a", 1), None, Claim::Vacant).await;
    let before = stage.look().await;
    stage.clock.advance(TTL);
    let lapsed = stage.look().await;
    assert_eq!((lapsed.coordinator.is_some(), &lapsed.lapsed), (false, &Some(id("a"))));
    assert_eq!(states(&lapsed), [State::Silent]);
    let told: Vec<String> = changes(&before, &lapsed).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["no node leads: epoch 1 of a is over", "a is silent, was leader"]);

    let version = Version { epoch: Epoch(1), nonce: Nonce { boot: BootId(1), attempt: 1 } };
    stage.take(record("b", 2), Some(version), Claim::Expired).await;
    let after = stage.look().await;
    assert_eq!(first(&after).to_string(), "b leads, epoch 2, 2 registered");
    let change = after.last_change.as_ref().expect("two terms");
    assert_eq!((&change.from, &change.to), (&Some(id("a")), &Some(id("b"))));
    let text = render(&after, Some(80));
    assert!(text.contains("a → b, expired"), "{text}");
}

#[tokio::test]
async fn a_restart_is_not_taken_for_the_same_process() {
    let stage = Stage::new();
    stage.beat(record("a", 1), LeaseIntent::Observe).await;
    let before = stage.look().await;
    let leave = stage.store.leave(&namespace(), &id("a"), BootId(1)).await;
    assert_eq!(leave, Ok(Outcome::Applied));
    let gone = stage.look().await;
    stage.beat(record("a", 2), LeaseIntent::Observe).await;
    let after = stage.look().await;
    assert_eq!(changes(&before, &after), [Change::Restarted { node: id("a") }]);
    assert_eq!(changes(&before, &gone), [Change::Left { node: id("a") }]);
    let joined = Change::Joined { node: id("a"), state: State::Candidate };
    assert_eq!(changes(&gone, &after), [joined]);
}
