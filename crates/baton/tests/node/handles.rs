//! What a handle tells: metrics, events, and several namespaces on one thread.

use std::sync::Arc;

use baton::{BreakerState, Event, Namespace, Node, Store};
use baton_store::clock::SystemClock;
use baton_store::wrap::Record;

use crate::cluster::{builder, event, id, outage, soon, store, until};

#[tokio::test]
async fn beats_and_elections_are_counted_with_their_latencies() {
    let node = builder(&store(), "a").build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    until("five beats", || node.metrics().heartbeat_count >= 5).await;
    let metrics = node.metrics();
    assert_eq!((metrics.election_count, metrics.leader_changes), (1, 1));
    assert!(metrics.latency_p50_ms > 0.0 && metrics.latency_p50_ms <= metrics.latency_p99_ms);
    assert!(metrics.last_heartbeat_time > metrics.start_time);
}

#[tokio::test]
async fn the_breaker_opens_and_closes_and_says_so() {
    let outage = outage(store());
    let node = builder(&(outage.clone() as Arc<dyn Store>), "a").build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let mut events = node.events();
    outage.layer().begin();
    let open = |event: &Event| matches!(event, Event::BreakerOpen { .. });
    event(&mut events, "the breaker to open", open).await;
    assert_eq!(node.circuit_breaker_status().state, BreakerState::Open);
    let trouble = node.last_store_error().expect("it complained").to_string();
    assert_eq!(trouble, "the store cannot be reached (an outage); nothing was written");
    outage.layer().end();
    event(&mut events, "the breaker to close", |it| *it == Event::BreakerClosed).await;
    soon("a term after the outage", node.leadership()).await.expect("it leads");
}

#[tokio::test]
async fn namespaces_beside_one_another_lead_apart_and_beat_together() {
    let record = Arc::new(Record::around(store(), Arc::new(SystemClock), 10_000));
    let first = builder(&(record.clone() as Arc<dyn Store>), "a").build().expect("it starts");
    let names = (1..10).map(|n| Namespace::new(&format!("n{n}")).expect("valid"));
    let build = |name| first.beside(name).build().expect("it starts");
    let others: Vec<Node> = names.map(build).collect();
    assert!(others.iter().all(|node| node.boot() == first.boot() && *node.id() == id("a")));
    until("all to lead", || others.iter().all(Node::is_leader) && first.is_leader()).await;
    // Once aligned, the renewals of all namespaces leave within the same moment.
    let renewals = || -> Vec<u64> {
        let entries = record.layer().entries();
        let renewed = entries.iter().filter(|entry| entry.kind == "renew");
        renewed.map(|entry| entry.invoked_at.as_micros()).collect()
    };
    until("eight rounds of renewals", || renewals().len() >= 80).await;
    let times = renewals();
    let last = &times[times.len() - 40..];
    let rounds = 1 + last.windows(2).filter(|pair| pair[1] - pair[0] > 50_000).count();
    assert!(rounds <= 6, "40 renewals of 10 namespaces came in {rounds} rounds: {last:?}");
    first.leave().await;
    assert!(others.iter().all(Node::is_leader), "each namespace goes on without the first");
}
