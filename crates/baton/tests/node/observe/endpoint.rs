//! The endpoint: who leads, who is ready, and what a slow reader may cost.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use baton::{Event, Namespace, Settings, Store, StoreError, async_trait};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::client::{address, answers, anywhere, ask, scrape, send, status};
use crate::cluster::{builder, event, outage, quick, soon, store, until};

/// For `NodeBuilder::tune`: a lease that no busy machine loses, for tests that see none run out.
fn steady(settings: &mut Settings) {
    settings.lease_timeout = Duration::from_secs(15);
    settings.worker_timeout = Duration::from_secs(15);
    settings.dead_node_timeout = Duration::from_secs(30);
    settings.min_epoch_duration = Duration::from_secs(15);
}

#[tokio::test]
async fn only_the_coordinator_answers_that_it_leads() {
    let store = store();
    let build = |name| builder(&store, name).tune(steady).metrics(anywhere()).build();
    let build = |name| build(name).expect("it starts");
    let first = build("a");
    let term = soon("the first term", first.leadership()).await.expect("it leads");
    assert_eq!(status(&first, "/leader").await, 200);
    let second = build("b");
    until("the second to be known", || first.active_workers().len() == 2).await;
    let answer = ask(address(&second), "GET", "/leader").await;
    assert_eq!((answer.status, answer.body.as_str()), (503, "a leads\n"));
    assert!(!answer.head.contains("baton-epoch"), "{answer:?}");
    let answer = answers(&second, "/follower", 200).await;
    assert_eq!(answer.body, "a leads\n");
    assert_eq!(status(&first, "/follower").await, 503);
    drop(term);
    first.resign();
    soon("the second term", second.leadership()).await.expect("it leads");
    assert_eq!(status(&first, "/leader").await, 503);
    let answer = ask(address(&second), "GET", "/leader").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "b leads in epoch 2\n"));
    assert!(answer.head.lines().any(|line| line == "baton-epoch: 2"), "{answer:?}");
}

/// The lease lasts 15 s: never more is left of the window.
#[tokio::test]
async fn a_leader_answers_for_as_long_as_it_is_asked_to_last() {
    let node = builder(&store(), "a").tune(steady).metrics(anywhere()).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    answers(&node, "/leader?min_left=1ms", 200).await;
    let short = answers(&node, "/leader?min_left=16s", 503).await;
    assert!(short.body.starts_with("a leads in epoch 1 for "), "{short:?}");
    assert!(short.body.ends_with(" ms, 16000 ms are asked for\n"), "{short:?}");
    for (given, shown) in [("2", "2"), ("soon", "soon"), ("", ""), ("-1s", "-1s")] {
        let wrong = ask(address(&node), "GET", &format!("/leader?min_left={given}")).await;
        let told = format!("min_left is {shown:?}; give a span such as 2s or 500ms\n");
        assert_eq!((wrong.status, wrong.body), (400, told));
    }
}

#[tokio::test]
async fn a_request_by_a_foreign_name_learns_nothing() {
    let node = builder(&store(), "a").metrics(anywhere()).metrics_hosts(["baton.example"]);
    let node = node.build().expect("it starts");
    let here = address(&node);
    let by = async |host: &str| send(here, &format!("GET /livez HTTP/1.1\r\n{host}\r\n")).await;
    for host in ["host: baton.example\r\n", "host: 10.0.0.7:9090\r\n", "host: [::1]\r\n", ""] {
        assert_eq!(by(host).await.status, 200, "{host:?}");
    }
    let old = send(here, "GET /livez HTTP/1.0\r\n\r\n").await;
    assert_eq!(old.status, 200, "a load balancer that names no host");
    for host in ["host: evil.example\r\n", "host: localhost\r\nhost: evil.example\r\n"] {
        let refused = by(host).await;
        assert_eq!(refused.status, 421, "{host:?}");
        assert!(
            refused.body.starts_with("host \"evil.example\" is no name of this "),
            "{refused:?}"
        );
    }
    let absolute = "GET http://evil.example/metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
    assert_eq!(send(here, absolute).await.status, 421);
}

/// Blocks the thread that calls the store, as a bug of a driver might, until it is let go.
struct Block(Mutex<Option<mpsc::Receiver<()>>>);

#[async_trait]
impl Layer for Block {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        let held = self.0.lock().expect("no holder panics").take();
        held.into_iter().for_each(|held| held.recv().expect("the test lets it go"));
        inner.call(namespace, call).await
    }
}

#[tokio::test]
async fn a_node_lives_while_its_thread_turns_whatever_the_store_does() {
    let outage = outage(store());
    let blocked = Arc::new(Wrapped::new(outage.clone(), Block(Mutex::default())));
    let node = builder(&(blocked.clone() as Arc<dyn Store>), "a").metrics(anywhere()).build();
    let node = node.expect("it starts");
    answers(&node, "/readyz", 200).await;
    outage.layer().begin();
    answers(&node, "/readyz", 503).await;
    answers(&node, "/livez", 200).await;
    let (let_go, held) = mpsc::channel();
    *blocked.layer().0.lock().expect("no holder panics") = Some(held);
    let answer = answers(&node, "/livez", 503).await;
    assert!(answer.body.starts_with("the node's thread is stuck: no turn for "), "{answer:?}");
    assert!(answer.body.ends_with(" ms, at most 750 ms may pass\n"), "{answer:?}");
    let_go.send(()).expect("the thread waits");
    answers(&node, "/livez", 200).await;
}

/// Nothing wakes it but the sign that its thread turns: it asks no store.
#[tokio::test]
async fn a_single_instance_lives_too() {
    let settings = quick().tune(|it| it.enabled = false);
    let node = builder(&store(), "a").settings(settings).metrics(anywhere()).build();
    let node = node.expect("it starts");
    soon("the only term", node.leadership()).await.expect("it leads");
    // Longer than the limit of 750 ms.
    let later = SystemClock.now() + Duration::from_secs(1);
    until("a second to pass", || SystemClock.now() > later).await;
    let answer = answers(&node, "/livez", 200).await;
    assert_eq!(answer.body, "the node lives\n");
    assert_eq!(status(&node, "/leader?min_left=1h").await, 200);
}

#[tokio::test]
async fn a_node_is_ready_while_its_beats_come_through() {
    let outage = outage(store());
    let node = builder(&(outage.clone() as Arc<dyn Store>), "a").metrics(anywhere()).build();
    let node = node.expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    answers(&node, "/readyz", 200).await;
    let mut events = node.events();
    outage.layer().begin();
    let lost = |event: &Event| matches!(event, Event::CoordinatorDemoted { .. });
    event(&mut events, "the term to be lost", lost).await;
    let answer = answers(&node, "/readyz", 503).await;
    assert!(answer.body.starts_with("not ready: no beat came through for "), "{answer:?}");
    assert!(answer.body.ends_with("at most 1000 ms may pass\n"), "{answer:?}");
    assert_eq!((status(&node, "/leader").await, status(&node, "/livez").await), (503, 200));
    let during = scrape(&node).await;
    assert_eq!((during.value("baton_leader", &[]), during.value("baton_ready", &[])), (0.0, 0.0));
    assert!(during.value("baton_beats_total", &[("outcome", "unavailable")]) >= 1.0);
    outage.layer().end();
    answers(&node, "/leader", 200).await;
    answers(&node, "/readyz", 200).await;
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
    let refused = builder(&store(), "b").metrics(taken).build().expect_err("refused");
    let message = refused.to_string();
    assert!(message.starts_with(&format!("metrics cannot be served on {taken} (")), "{message}");
    assert!(message.ends_with("choose another address or port"), "{message}");
}

#[tokio::test]
async fn the_address_is_given_as_text_and_a_wrong_one_is_refused_when_the_node_is_built() {
    let node = builder(&store(), "a").metrics("127.0.0.1:0").build().expect("it starts");
    assert_eq!(status(&node, "/livez").await, 200);
    let refused = builder(&store(), "b").metrics("9090").build().expect_err("refused");
    let message = refused.to_string();
    assert!(message.starts_with("\"9090\" is no address for metrics ("), "{message}");
    assert!(message.ends_with("; give one such as \"127.0.0.1:9090\""), "{message}");
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

/// Half of them never end their request, half of them never read the answer; no slot stays free.
#[tokio::test]
async fn slow_scrapers_delay_neither_a_beat_nor_a_probe() {
    let node = builder(&store(), "a").tune(steady).metrics(anywhere()).build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let before = node.metrics().heartbeat_count;
    let mut slow = Vec::new();
    let beaten = async {
        while node.metrics().heartbeat_count < before + 6 {
            for request in ["GET /met", "GET /metrics HTTP/1.1\r\n\r\n"] {
                let mut stream = TcpStream::connect(address(&node)).await.expect("it listens");
                stream.write_all(request.as_bytes()).await.expect("it listens");
                slow.push(stream);
            }
            assert_eq!(status(&node, "/leader").await, 200);
        }
    };
    soon("six beats", beaten).await;
    assert!(slow.len() >= 2 && node.is_leader());
}
