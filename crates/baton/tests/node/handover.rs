//! Leadership moves on request, and the caller learns what came of it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::{
    DemotionReason, HandoverError, Leadership, LifelineConfig, Node, Plugin, PluginError, Settings,
    Store, TransferRefusal, async_trait,
};
use baton_core::ids::{BootId, Epoch};
use baton_core::protocol::{
    BeatRequest, LeaseIntent, NodeProfile, NodeRecord, Recording, ViewVersion,
};
use baton_store::clock::{Clock, SystemClock};

use crate::cluster::{PATIENCE, builder, id, quick, soon, store, until};

async fn two(store: &Arc<dyn Store>) -> (Node, Node) {
    let first = builder(store, "a").build().expect("it starts");
    drop(soon("the first term", first.leadership()).await.expect("it leads"));
    let second = builder(store, "b").build().expect("it starts");
    until("both to be known", || second.active_workers().len() == 2).await;
    (first, second)
}

#[tokio::test]
async fn a_transfer_is_waited_for_on_any_node() {
    let store = store();
    let (first, second) = two(&store).await;
    let moved = soon("b", first.transfer_and_wait(&id("b"), PATIENCE)).await.expect("it moves");
    assert_eq!((moved.previous, moved.leader, moved.epoch), (Some(id("a")), id("b"), Epoch(2)));
    assert!(soon("its term", second.leadership()).await.is_ok());
    let back = soon("a", first.transfer_and_wait(&id("a"), PATIENCE)).await.expect("it moves");
    assert_eq!((back.previous, back.leader, back.epoch), (Some(id("b")), id("a"), Epoch(3)));
}

#[tokio::test]
async fn a_node_that_joined_moments_ago_is_waited_for() {
    let store = store();
    let first = builder(&store, "a").build().expect("it starts");
    drop(soon("the first term", first.leadership()).await.expect("it leads"));
    let second = builder(&store, "b").build().expect("it starts");
    until("it to be registered", || second.is_registered()).await;
    let moved = soon("b", second.transfer_and_wait(&id("b"), PATIENCE)).await.expect("it moves");
    assert_eq!(moved.leader, id("b"));
}

/// The record of a node that beat once and never again.
async fn leave_a_record(store: &Arc<dyn Store>, node: &Node, name: &str) {
    let record = NodeRecord {
        id: id(name),
        boot: BootId(99),
        beat: 1,
        eligible: true,
        draining: false,
        load: 0,
        seen: Epoch::NONE,
        partitions: None,
        profile: Arc::new(NodeProfile::default()),
    };
    let beat = BeatRequest {
        node: record,
        recording: Recording::Write,
        replaces: None,
        lease: LeaseIntent::Observe,
        known_view: ViewVersion::default(),
    };
    store.beat(node.namespace(), beat).await.expect("it answers");
}

#[tokio::test]
async fn a_transfer_is_refused_with_its_reason_wherever_it_is_asked_for() {
    let store = store();
    let (first, second) = two(&store).await;
    leave_a_record(&store, &first, "gone").await;
    let ineligible = quick().tune(|it| it.eligible = false);
    let observer = builder(&store, "o").settings(ineligible).build().expect("it starts");
    let draining = builder(&store, "d").build().expect("it starts");
    draining.set_draining(true);
    let seen = |name: &str, test: fn(&baton_core::protocol::ViewMember) -> bool| {
        let view = first.view().expect("it leads");
        view.member(&id(name)).is_some_and(test)
    };
    until("both to be known", || {
        seen("d", |member| member.draining) && seen("o", |member| !member.candidate)
    })
    .await;
    until("the view to be without the silent one", || !seen("gone", |_| true)).await;
    for node in [&first, &second, &observer] {
        let refused = async |to: &str| {
            let target = id(to);
            let asked = node.transfer_and_wait(&target, PATIENCE);
            let error = soon("an answer", asked).await.expect_err("it is refused");
            let HandoverError::Refused { reason, .. } = error else {
                unreachable!("{to}: {error}");
            };
            reason
        };
        assert_eq!(refused("a").await, TransferRefusal::LeadsAlready);
        assert_eq!(refused("d").await, TransferRefusal::Draining);
        assert_eq!(refused("o").await, TransferRefusal::NotEligible);
        assert_eq!(refused("zz").await, TransferRefusal::NotAMember);
        let silent = refused("gone").await;
        assert!(
            matches!(silent, TransferRefusal::Silent { .. } | TransferRefusal::Dead { .. }),
            "{silent}"
        );
    }
    assert!(first.is_leader());
}

#[tokio::test]
async fn a_dead_node_is_refused_with_both_numbers() {
    let store = store();
    let (first, _second) = two(&store).await;
    leave_a_record(&store, &first, "gone").await;
    let silent = async || {
        let members = store.members(first.namespace()).await.expect("it answers");
        let gone = members.iter().find(|member| member.record.id == id("gone"));
        gone.and_then(|member| member.silent_for).expect("the store tells ages")
    };
    let waiting = async {
        while silent().await < quick().dead_node_timeout {
            SystemClock.sleep(Duration::from_millis(20)).await;
        }
    };
    soon("its silence", waiting).await;
    let refused = first.transfer_and_wait(&id("gone"), PATIENCE).await.expect_err("it is dead");
    let told = refused.to_string();
    assert!(told.starts_with("gone is dead: silent for 2s"), "{told}");
    assert!(told.ends_with("more than dead_node_timeout 2s"), "{told}");
}

#[tokio::test]
async fn an_election_is_forced_and_a_coordinator_that_is_there_is_left_alone() {
    let store = store();
    let (first, second) = two(&store).await;
    let there = first.ensure_coordinator_and_wait(false, None, PATIENCE).await;
    assert_eq!(there.expect("a leads").epoch, Epoch(1));
    let forced = soon("an election", second.ensure_coordinator_and_wait(true, None, PATIENCE));
    let forced = forced.await.expect("a node leads");
    assert_eq!((forced.previous, forced.epoch), (Some(id("a")), Epoch(2)));
    let desired = id("a");
    let moved = second.ensure_coordinator_and_wait(false, Some(&desired), PATIENCE);
    let moved = soon("the desired one", moved).await.expect("it may lead");
    assert_eq!(moved.leader, desired);
    let again = first.ensure_coordinator_and_wait(true, Some(&desired), PATIENCE).await;
    assert_eq!(again.map(|it| it.epoch), Ok(moved.epoch), "the desired node leads already");
}

#[tokio::test]
async fn where_no_node_leads_the_first_coordinator_is_waited_for() {
    let store = store();
    let (node, other) = ("a", "b");
    let node = builder(&store, node).build().expect("it starts");
    let other = builder(&store, other).build().expect("it starts");
    let desired = id("b");
    let ensured = node.ensure_coordinator_and_wait(false, Some(&desired), PATIENCE);
    assert_eq!(soon("b to lead", ensured).await.expect("both may lead").leader, desired);
    assert!(soon("its term", other.leadership()).await.is_ok());
}

#[tokio::test]
async fn what_does_not_happen_in_time_is_told() {
    let store = store();
    let (first, second) = two(&store).await;
    let held = soon("the term", first.leadership()).await.expect("it leads");
    let patience = Duration::from_millis(50);
    let late = second.transfer_and_wait(&id("b"), patience).await;
    assert_eq!(late, Err(HandoverError::NotInTime { waited: patience }));
    drop(held);
}

/// Says when it is told to prepare; as the old one's, stops only once the new one has prepared.
struct Warm {
    prepared: Arc<AtomicBool>,
    others: Arc<AtomicBool>,
    saw: Arc<AtomicBool>,
}

#[async_trait]
impl Plugin for Warm {
    fn name(&self) -> &str {
        "warm"
    }

    async fn prepare(&self) {
        self.prepared.store(true, Ordering::SeqCst);
    }

    async fn coordinator_work(&self, _: &Leadership) -> Result<(), PluginError> {
        Ok(())
    }

    async fn on_stop_being_coordinator(&self, _: DemotionReason) {
        // Cancelled before the hard deadline, should it wait in vain.
        while !self.others.load(Ordering::SeqCst) {
            SystemClock.sleep(Duration::from_millis(1)).await;
        }
        self.saw.store(true, Ordering::SeqCst);
    }
}

/// A term waits an eighth of the grace for the named node to have heard that it should prepare:
/// five seconds, more than a busy machine needs.
fn patient(settings: &mut Settings) {
    settings.lease_timeout = Duration::from_secs(120);
    settings.min_epoch_duration = Duration::from_secs(120);
    settings.stop_grace = Duration::from_secs(40);
}

#[tokio::test]
async fn the_plugins_of_the_named_node_prepare_before_the_old_one_lets_go() {
    let store = store();
    let [a, b, c, saw] = [(); 4].map(|()| Arc::<AtomicBool>::default());
    let warm = |prepared: &Arc<AtomicBool>, others: &Arc<AtomicBool>| Warm {
        prepared: prepared.clone(),
        others: others.clone(),
        saw: saw.clone(),
    };
    let start = |name: &str, plugin: Warm| {
        let node = builder(&store, name).tune(patient).lifeline(LifelineConfig::default());
        node.plugin(plugin).build().expect("it starts")
    };
    let first = start("a", warm(&a, &b));
    drop(soon("the first term", first.leadership()).await.expect("it leads"));
    let _second = start("b", warm(&b, &a));
    let _third = start("c", warm(&c, &a));
    until("all to be known", || first.active_workers().len() == 3).await;
    let moved = soon("b", first.transfer_and_wait(&id("b"), PATIENCE)).await.expect("it moves");
    assert_eq!(moved.leader, id("b"));
    assert!(saw.load(Ordering::SeqCst), "a stopped only because b had prepared");
    let told = [&a, &b, &c].map(|node| node.load(Ordering::SeqCst));
    assert_eq!(told, [false, true, false], "no other node was told to");
    // So that b can stop when it is dropped.
    a.store(true, Ordering::SeqCst);
}

/// Counts how often it was told to prepare, and notes how often that was when each term began.
#[derive(Clone, Default)]
struct Counted {
    prepared: Arc<AtomicU32>,
    at_start: Arc<Mutex<Vec<u32>>>,
}

#[async_trait]
impl Plugin for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    async fn prepare(&self) {
        self.prepared.fetch_add(1, Ordering::SeqCst);
    }

    async fn on_become_coordinator(&self, _: &Leadership) -> Result<(), PluginError> {
        let prepared = self.prepared.load(Ordering::SeqCst);
        self.at_start.lock().expect("no holder panics").push(prepared);
        Ok(())
    }

    async fn coordinator_work(&self, _: &Leadership) -> Result<(), PluginError> {
        Ok(())
    }
}

#[tokio::test]
async fn the_named_node_prepares_first_even_where_there_is_nothing_to_stop() {
    let store = store();
    let [a, b] = [(); 2].map(|()| Counted::default());
    let start = |name: &str, plugin: &Counted| {
        let node = builder(&store, name).tune(patient).lifeline(LifelineConfig::default());
        node.plugin(plugin.clone()).build().expect("it starts")
    };
    let first = start("a", &a);
    drop(soon("the first term", first.leadership()).await.expect("it leads"));
    let second = start("b", &b);
    until("both to be known", || first.active_workers().len() == 2).await;
    // Each once: a node is told to prepare at most once a beat, and transfers are faster than that.
    for to in ["b", "a"] {
        let target = id(to);
        let moved = first.transfer_and_wait(&target, PATIENCE);
        soon("the transfer", moved).await.expect("it moves");
    }
    drop(soon("the last term", first.leadership()).await.expect("it leads"));
    drop(second);
    until("the last start", || a.at_start.lock().expect("no holder panics").len() == 2).await;
    assert_eq!(*a.at_start.lock().expect("no holder panics"), [0, 1]);
    assert_eq!(*b.at_start.lock().expect("no holder panics"), [1]);
}
