//! What a term may do, and when it may no more.

use std::sync::Arc;

use baton::{DemotionReason, Epoch, Event, Precondition, StaleEpoch, Store, WriteOutcome};
use baton_core::protocol::{ReleaseReason, TermEnd};

use crate::cluster::{builder, event, id, outage, soon, store, until};

#[tokio::test]
async fn a_leader_cut_off_from_its_store_stops_before_its_lease_is_over() {
    let outage = outage(store());
    let store: Arc<dyn Store> = outage.clone();
    let node = builder(&store, "a").build().expect("it starts");
    let mut events = node.events();
    let term = soon("the term", node.leadership()).await.expect("it leads");
    outage.layer().begin();
    let left = |event: &Event| matches!(event, Event::StoreUnreachable { .. });
    event(&mut events, "a word that the store is gone", left).await;
    assert!(term.is_leader(), "the window is open for a while yet");
    let reason = soon("the soft deadline", term.lost()).await;
    assert_eq!(reason, DemotionReason::WindowClosed);
    assert!(!node.is_leader() && !term.may_start_work());
    drop(term);
    outage.layer().end();
    let again = soon("a term after the outage", node.leadership()).await.expect("it leads");
    assert!(again.epoch() > Epoch(1));
}

#[tokio::test]
async fn a_driver_that_panics_costs_a_request_and_not_the_node() {
    let outage = outage(store());
    let node = builder(&(outage.clone() as Arc<dyn Store>), "a").build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    let beats = node.metrics().heartbeat_count;
    outage.layer().break_once();
    until("beats after the panic", || node.metrics().heartbeat_count >= beats + 2).await;
    let trouble = node.last_store_error().expect("it complained").to_string();
    assert!(trouble.contains("panicked"), "{trouble}");
    assert!(term.is_leader(), "one lost request does not end a term");
}

#[tokio::test]
async fn a_transfer_goes_to_the_node_that_was_named() {
    let store = store();
    let nodes = ["a", "b", "c"].map(|name| builder(&store, name).build().expect("it starts"));
    until("all to be known", || nodes[1].active_workers().len() == 3).await;
    until("the first to lead", || nodes[0].is_leader()).await;
    nodes[1].transfer(id("c"));
    until("the named one to lead", || nodes[2].is_leader()).await;
    let terms = store.history(nodes[0].namespace(), 2).await.expect("it answers");
    let why = terms[1].ended.map(|(_, end)| end);
    let wanted = TermEnd::Released(ReleaseReason::Transferred);
    assert_eq!(why, Some(wanted));
}

#[tokio::test]
async fn a_document_of_an_ended_term_is_fenced() {
    let store = store();
    let first = builder(&store, "a").build().expect("it starts");
    let old = soon("the first term", first.leadership()).await.expect("it leads");
    let write = old.write_document("state", b"1".to_vec(), Precondition::Any).await;
    assert_eq!(write, Ok(WriteOutcome::Written(1)));
    first.resign();
    let stale = old.clone();
    drop(old);
    // The old term is held on to, so the node hands over only when its window has closed.
    let second = builder(&store, "b").build().expect("it starts");
    let new = soon("the second term", second.leadership()).await.expect("it leads");
    let write = stale.write_document("state", b"2".to_vec(), Precondition::Any).await;
    assert_eq!(write, Ok(WriteOutcome::Fenced));
    let read = new.read_document("state").await.expect("it answers").expect("it is there");
    assert_eq!(read.body, b"1");
}

#[tokio::test]
async fn the_register_admits_epochs_that_do_not_go_back() {
    let store = store();
    let node = builder(&store, "a").build().expect("it starts");
    let fence = node.fence_register("invoices");
    assert_eq!(fence.highest().await, Ok(Epoch::NONE));
    for epoch in [5, 5, 7] {
        assert_eq!(fence.admit(Epoch(epoch)).await, Ok(()));
    }
    let stale = StaleEpoch { resource: "invoices".to_owned(), given: Epoch(6), highest: Epoch(7) };
    assert_eq!(fence.admit(Epoch(6)).await, Err(stale.into()));
    assert_eq!(node.fence_register("others").highest().await, Ok(Epoch::NONE));
}
