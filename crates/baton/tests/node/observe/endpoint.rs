//! The endpoint: who leads, who is ready, and what a slow reader may cost.

use std::sync::Arc;

use baton::{Event, Namespace, Store};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::client::{address, anywhere, ask, scrape, status};
use crate::cluster::{builder, event, outage, soon, store, until};

#[tokio::test]
async fn only_the_coordinator_answers_that_it_leads() {
    let store = store();
    let build = |name| builder(&store, name).metrics(anywhere()).build().expect("it starts");
    let first = build("a");
    let term = soon("the first term", first.leadership()).await.expect("it leads");
    assert_eq!(status(&first, "/leader").await, 200);
    let second = build("b");
    until("the second to be known", || first.active_workers().len() == 2).await;
    let answer = ask(address(&second), "GET", "/leader").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "a leads\n"));
    drop(term);
    first.resign();
    soon("the second term", second.leadership()).await.expect("it leads");
    assert_eq!(status(&first, "/leader").await, 503);
    let answer = ask(address(&second), "GET", "/leader").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "b leads in epoch 2\n"));
}

#[tokio::test]
async fn a_node_is_ready_while_its_beats_come_through() {
    let outage = outage(store());
    let node = builder(&(outage.clone() as Arc<dyn Store>), "a").metrics(anywhere()).build();
    let node = node.expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    assert_eq!((status(&node, "/readyz").await, status(&node, "/livez").await), (200, 200));
    let mut events = node.events();
    outage.layer().begin();
    let lost = |event: &Event| matches!(event, Event::CoordinatorDemoted { .. });
    event(&mut events, "the term to be lost", lost).await;
    let not_ready = async {
        loop {
            let answer = ask(address(&node), "GET", "/readyz").await;
            if answer.status == 503 {
                break answer;
            }
        }
    };
    let answer = soon("it to be not ready", not_ready).await;
    assert!(answer.body.starts_with("not ready: no beat came through for "), "{answer:?}");
    assert!(answer.body.ends_with("at most 1000 ms may pass\n"), "{answer:?}");
    assert_eq!((status(&node, "/leader").await, status(&node, "/livez").await), (503, 200));
    let during = scrape(&node).await;
    assert_eq!((during.value("baton_leader", &[]), during.value("baton_ready", &[])), (0.0, 0.0));
    assert!(during.value("baton_beats_total", &[("outcome", "unavailable")]) >= 1.0);
    outage.layer().end();
    soon("a term after the outage", node.leadership()).await.expect("it leads");
    assert_eq!((status(&node, "/leader").await, status(&node, "/readyz").await), (200, 200));
    let after = scrape(&node).await;
    assert!(after.value("baton_leaderless_seconds_total", &[]) > 0.0);
}

#[tokio::test]
async fn a_node_that_left_is_neither_ready_nor_leads_and_its_port_is_free_again() {
    let node = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let address = address(&node);
    node.leave().await;
    for path in ["/readyz", "/leader"] {
        assert_eq!(status(&node, path).await, 503, "{path}");
    }
    drop(node);
    let again = builder(&store(), "b").metrics(address).build().expect("the port is free");
    assert_eq!(again.metrics_endpoint(), Some(address));
}

#[tokio::test]
async fn a_port_in_use_is_refused_with_the_address() {
    let first = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    let taken = address(&first);
    let refused = builder(&store(), "b").metrics(taken).build().err().expect("refused");
    let message = refused.to_string();
    assert!(message.starts_with(&format!("metrics cannot be served on {taken} (")), "{message}");
    assert!(message.ends_with("choose another address or port"), "{message}");
}

#[tokio::test]
async fn only_reading_is_answered() {
    let node = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    let address = address(&node);
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        for path in ["/metrics", "/leader"] {
            assert_eq!(ask(address, method, path).await.status, 405, "{method} {path}");
        }
    }
    let head = ask(address, "HEAD", "/metrics").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let lost = ask(address, "GET", "/metric").await;
    assert_eq!(lost.status, 404);
    assert!(lost.body.contains("/metrics"), "{lost:?}");
}

#[tokio::test]
async fn namespaces_of_one_process_share_the_endpoint() {
    let first = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    let other = Namespace::new("other").expect("valid");
    let second = first.beside(other).build().expect("it starts");
    assert_eq!(second.metrics_endpoint(), first.metrics_endpoint());
    until("both to lead", || first.is_leader() && second.is_leader()).await;
    let both = scrape(&first).await;
    for namespace in ["default", "other"] {
        assert_eq!(both.value("baton_leader", &[("namespace", namespace)]), 1.0);
    }
    let address = address(&first);
    assert_eq!(ask(address, "GET", "/leader?namespace=other").await.status, 200);
    assert_eq!(ask(address, "GET", "/leader?namespace=none").await.status, 404);
    let gone = second.leave().await;
    assert_eq!(gone, baton::Departure::Left);
    assert_eq!(ask(address, "GET", "/leader?namespace=other").await.status, 503);
    drop(second);
    let alone = async { while scrape(&first).await.samples["baton_leader"].len() > 1 {} };
    soon("a node that is gone to say nothing", alone).await;
    assert_eq!(ask(address, "GET", "/leader?namespace=other").await.status, 404);
}

#[tokio::test]
async fn slow_scrapers_delay_no_beat() {
    let node = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let mut events = node.events();
    let mut slow = Vec::new();
    for number in 0..31 {
        let mut stream = TcpStream::connect(address(&node)).await.expect("it listens");
        // Half of them never end their request, half of them never read the answer.
        let request = if number % 2 == 0 { "GET /met" } else { "GET /metrics HTTP/1.1\r\n\r\n" };
        stream.write_all(request.as_bytes()).await.expect("it listens");
        slow.push(stream);
    }
    let before = node.metrics().heartbeat_count;
    while node.metrics().heartbeat_count < before + 6 {
        scrape(&node).await;
    }
    while let Some(told) = events.try_next() {
        let slowed = matches!(told.event, Event::ContentionDetected { .. });
        assert!(!slowed, "{told:?}");
    }
    assert!(node.is_leader());
}
