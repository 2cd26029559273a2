//! OpenTelemetry, as a collector sees it: a real one in the test, which takes what is sent apart.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use baton::{Event, Events, LifelineConfig, Node, NodeId, Settings, Telemetry};
use baton_store::clock::{Clock, SystemClock};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// Long enough for anything that is to happen at all.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// What was sent so far.
#[derive(Default)]
struct Received {
    spans: Vec<Span>,
    metrics: Vec<Metric>,
    services: Vec<String>,
}

/// A collector on a free port. It answers for as long as the test lasts.
struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

impl Collector {
    fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let received = Arc::<Mutex<Received>>::default();
        let kept = received.clone();
        let answering = std::thread::Builder::new().spawn(move || {
            for stream in listener.incoming().flatten() {
                // The sender may go at any time.
                let _ = take(stream, &kept);
            }
        });
        answering.expect("there is room for a thread");
        Self { address, received }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// One request of a connection that is closed afterwards.
fn take(mut stream: TcpStream, received: &Mutex<Received>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_lowercase()),
        }
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).expect("a length is told");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    keep(&head[0], &body, &mut received.lock().expect("no holder panics"));
    stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

fn keep(request: &str, body: &[u8], received: &mut Received) {
    if request.starts_with("post /v1/traces ") {
        let sent = ExportTraceServiceRequest::decode(body).expect("it is what the path says");
        for resource in sent.resource_spans {
            let attributes = resource.resource.map(|it| it.attributes).unwrap_or_default();
            received.services.extend(attribute(&attributes, "service.name"));
            received.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
    } else if request.starts_with("post /v1/metrics ") {
        let sent = ExportMetricsServiceRequest::decode(body).expect("it is what the path says");
        let scopes = sent.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
        received.metrics.extend(scopes.flat_map(|scope| scope.metrics));
    } else {
        unreachable!("no collector is at {request}");
    }
}

fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        Value::IntValue(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

async fn until_told(events: &mut Events, wanted: impl Fn(&Event) -> bool) {
    let waiting = async { while !wanted(&events.next().await.expect("the node goes on").event) {} };
    tokio::select! {
        () = waiting => {}
        () = SystemClock.sleep(PATIENCE) => unreachable!("it was not told"),
    }
}

#[tokio::test]
async fn a_term_its_store_operations_and_the_figures_reach_the_collector() {
    let collector = Collector::listen();
    let telemetry = Telemetry::otlp(&collector.url(), "billing").expect("a collector");
    let settings = Settings::default().tune(|it| it.skip_cold_start = true);
    let store = baton::open("memory://").await.expect("it is always there");
    let (node, mut events) = Node::builder(store)
        .id(NodeId::new("web-1").expect("valid"))
        .settings(settings)
        .lifeline(LifelineConfig::off())
        .telemetry(telemetry.clone())
        .build_with_events()
        .expect("it starts");
    let leads = |event: &Event| matches!(event, Event::CoordinatorPromoted { .. });
    until_told(&mut events, leads).await;
    let first = telemetry.clone();
    let flushed = tokio::task::spawn_blocking(move || first.flush()).await;
    assert!(flushed.is_ok());
    node.leave().await;
    drop(node);
    let ended = tokio::task::spawn_blocking(move || telemetry.shutdown()).await;
    assert!(ended.is_ok());

    let received = collector.received.lock().expect("no holder panics");
    assert!(received.services.iter().all(|service| service == "billing"));
    let term = received.spans.iter().find(|span| span.name == "baton.term");
    let term = term.expect("a span of the term");
    let of_term = |name| attribute(&term.attributes, name).expect("it is told");
    assert_eq!((of_term("node"), of_term("namespace")), ("web-1".into(), "default".into()));
    assert_eq!(of_term("baton.epoch"), "1");
    assert!(of_term("baton.end_reason").contains("released"), "{term:?}");
    assert!(term.end_time_unix_nano >= term.start_time_unix_nano);
    let told: Vec<&str> = term.events.iter().map(|event| event.name.as_str()).collect();
    assert!(told.contains(&"coordinator-promoted"), "{told:?}");
    let operation = |name: &str| received.spans.iter().find(|span| span.name == name);
    let acquire = operation("baton.store.acquire").expect("a span of the claim");
    assert_eq!(attribute(&acquire.attributes, "outcome").as_deref(), Some("ok"));
    assert!(acquire.parent_span_id.is_empty(), "the term began after it");
    let release = operation("baton.store.release").expect("a span of the release");
    assert_eq!(attribute(&release.attributes, "operation").as_deref(), Some("release"));
    let names: Vec<&str> = received.metrics.iter().map(|metric| metric.name.as_str()).collect();
    for name in [
        "baton.leader",
        "baton.epoch",
        "baton.leaderless.seconds",
        "baton.store.operations",
        "baton.store.operation.seconds",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
}
