//! Who leads: one of several, another after it, and the same clock for all.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

use baton::{Departure, Event, Namespace, Node, Plugin, PluginStatus, clock, every};

use crate::cluster::{builder, event, id, quick, soon, store, until};

#[tokio::test]
async fn three_nodes_that_start_at_once_have_one_leader_and_agree_on_it() {
    let store = store();
    let start = |name| builder(&store, name).build().expect("it starts");
    let nodes = ["c", "a", "b"].map(start);
    let agreed = || nodes.iter().all(|node| node.leader() == Some(id("a")));
    until("all to agree on the first id", agreed).await;
    let leaders: Vec<bool> = nodes.iter().map(Node::is_leader).collect();
    assert_eq!(leaders, [false, true, false]);
    until("the view to have all three", || nodes[0].active_workers().len() == 3).await;
    assert!(nodes[0].is_led_by(&id("a")));
}

#[tokio::test]
async fn a_resignation_hands_over_within_a_beat_and_the_old_one_stays() {
    let store = store();
    let first = builder(&store, "a").build().expect("it starts");
    let term = soon("the first term", first.leadership()).await.expect("it leads");
    let second = builder(&store, "b").build().expect("it starts");
    until("the second to be known", || first.active_workers().len() == 2).await;
    term.resign();
    soon("the word to stop", term.lost()).await;
    assert!(!term.is_leader() && !first.is_leader());
    assert!(!second.is_leader(), "the first has not let go of its term");
    let epoch = term.epoch();
    drop(term);
    let next = soon("the second term", second.leadership()).await.expect("it leads");
    assert_eq!(next.epoch(), epoch.next());
    first.leave().await;
    assert_eq!(soon("it to leave", first.left()).await, Departure::Left);
}

/// Looks at the node whenever an event is sent, on the thread that sends it.
struct LookWhenTold {
    node: Node,
    told: AtomicBool,
    led: Mutex<bool>,
}

impl Wake for LookWhenTold {
    fn wake(self: Arc<Self>) {
        *self.led.lock().expect("no holder panics") = self.node.is_leader();
        self.told.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_event_that_tells_of_a_lost_term_finds_the_node_not_leading() {
    let settings = quick().tune(|it| it.enabled = false);
    let built = builder(&store(), "a").settings(settings).build_with_events();
    let (node, mut events) = built.expect("it starts");
    let promoted = |event: &Event| matches!(event, Event::CoordinatorPromoted { .. });
    event(&mut events, "the only term", promoted).await;
    let (told, led) = (AtomicBool::new(false), Mutex::new(true));
    let look = Arc::new(LookWhenTold { node: node.clone(), told, led });
    let mut told = pin!(events.next());
    let waker = Arc::clone(&look).into();
    assert!(told.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    soon("it to leave", node.leave()).await;
    assert!(look.told.load(Ordering::SeqCst));
    let Poll::Ready(Some(event)) = told.poll(&mut Context::from_waker(&waker)) else {
        unreachable!("an event was sent")
    };
    assert!(matches!(event.event, Event::CoordinatorDemoted { .. }), "{event:?}");
    assert!(!*look.led.lock().expect("no holder panics"), "it leads no more when it says so");
}

/// Work that runs until it is told to stop, on the runtime of the test.
fn work_until_told(log: &Arc<Mutex<Vec<&'static str>>>) -> impl Plugin + use<> {
    let log = log.clone();
    every("work", Duration::from_secs(1), move |term| {
        let log = log.clone();
        async move {
            term.token().cancelled().await;
            log.lock().expect("no holder panics").push("the work ended");
            Ok(())
        }
    })
}

#[tokio::test(flavor = "current_thread")]
async fn dropping_the_last_handle_blocks_nothing_and_the_node_leaves() {
    let (store, log) = (store(), Arc::<Mutex<Vec<&str>>>::default());
    let runtime = tokio::runtime::Handle::current();
    let plugin = work_until_told(&log);
    let first = builder(&store, "a").runtime(runtime).plugin(plugin).build().expect("it starts");
    until("the work to begin", || first.plugins()[0].doing == PluginStatus::Working).await;
    let space = first.namespace().clone();
    let clone = first.clone();
    drop(first);
    assert!(clone.is_leader(), "a handle is left");
    let mut events = clone.events();
    drop(clone);
    // The work needs this thread to end, and the lease is not released before: a drop that waited
    // for the node would have waited for itself.
    log.lock().expect("no holder panics").push("dropped");
    soon("the node to be gone", async { while events.next().await.is_some() {} }).await;
    assert_eq!(*log.lock().expect("no holder panics"), ["dropped", "the work ended"]);
    let lease = store.inspect(&space).await.expect("it answers").lease.expect("it was held");
    assert_eq!(lease.holder, None);
    assert_eq!(store.members(&space).await.expect("it answers"), []);
}

#[tokio::test]
async fn an_ineligible_node_observes_and_never_leads() {
    let store = store();
    let settings = quick().tune(|it| it.eligible = false);
    let observer = builder(&store, "a").settings(settings).build().expect("it starts");
    let leader = builder(&store, "b").build().expect("it starts");
    until("the observer to see the leader", || observer.leader() == Some(id("b"))).await;
    leader.resign();
    let mut events = leader.events();
    let again = |event: &Event| matches!(event, Event::CoordinatorPromoted { .. });
    event(&mut events, "the only candidate to lead again", again).await;
    assert!(!observer.is_leader());
}

#[tokio::test]
async fn a_second_process_with_the_same_id_is_refused() {
    let store = store();
    let first = builder(&store, "a").build().expect("it starts");
    soon("the first term", first.leadership()).await.expect("it leads");
    let twin = builder(&store, "a").build().expect("it starts");
    let departure = soon("the twin to be refused", twin.left()).await;
    assert_eq!(departure, Departure::IdTaken { by: first.boot() });
    assert!(first.is_leader());
    assert!(twin.leadership().await.is_err());
}

#[tokio::test]
async fn a_single_instance_leads_at_once_and_asks_no_store() {
    let store = store();
    let settings = quick().tune(|it| it.enabled = false);
    let node = builder(&store, "a").settings(settings).build().expect("it starts");
    let term = soon("the only term", node.leadership()).await.expect("it leads");
    assert_eq!(term.epoch().0, 1);
    assert!(term.deadline() > clock::now());
    let space = Namespace::new("default").expect("valid");
    assert_eq!(store.members(&space).await.expect("it answers"), []);
    drop(term);
    node.leave().await;
    assert_eq!(soon("it to leave", node.left()).await, Departure::Left);
}

#[tokio::test]
async fn contradictory_settings_are_refused_with_both_numbers() {
    let settings = quick().tune(|it| it.lease_timeout = quick().heartbeat_interval);
    let refused = builder(&store(), "a").settings(settings).build().expect_err("refused");
    let message = refused.to_string();
    assert_eq!(message, "heartbeat_interval (250ms) must be at most half of lease_timeout (250ms)");
}

#[tokio::test]
async fn names_are_given_as_text_and_a_wrong_one_is_refused_when_the_node_is_built() {
    let node = builder(&store(), "x").id("web-1").namespace(String::from("billing")).build();
    let node = node.expect("it starts");
    assert_eq!((node.id().as_str(), node.namespace().as_str()), ("web-1", "billing"));
    let beside = node.beside("mail").build().expect("it starts");
    assert_eq!(beside.namespace().as_str(), "mail");

    let refused = |builder: baton::NodeBuilder| builder.build().expect_err("refused").to_string();
    let wrong_id = refused(builder(&store(), "x").id("web/1"));
    let allowed = "use letters, digits, '.', '_', ':' or '-'";
    assert_eq!(wrong_id, format!("node id has '/' at position 4; {allowed}"));
    let wrong_namespace = refused(builder(&store(), "x").namespace("two words"));
    assert_eq!(wrong_namespace, format!("namespace has ' ' at position 4; {allowed}"));
}

#[tokio::test]
async fn an_epoch_is_a_number_for_those_who_write_it_down() {
    let node = builder(&store(), "a").build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    assert_eq!(u64::from(term.epoch()), 1);
}
