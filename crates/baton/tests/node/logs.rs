//! What an embedded node says in the application's logs, and that no log can hold it up.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use baton::{Departure, Event, Node, NodeBuilder, PluginError, RestartPolicy, every};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use crate::cluster::{builder, event, soon, store, until};

/// An event or a span, with its fields as text.
#[derive(Clone, Debug)]
struct Line {
    level: Level,
    target: &'static str,
    name: &'static str,
    fields: BTreeMap<&'static str, String>,
}

impl Line {
    fn of(metadata: &'static Metadata<'static>) -> Self {
        let (level, target, name) = (*metadata.level(), metadata.target(), metadata.name());
        Self { level, target, name, fields: BTreeMap::new() }
    }

    fn says(&self, words: &str) -> bool {
        self.fields.get("message").is_some_and(|message| message == words)
    }

    fn has(&self, fields: &[(&str, &str)]) -> bool {
        fields.iter().all(|(name, text)| self.fields.get(name).is_some_and(|it| it == text))
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps every line of baton's, and blocks for as long as it is told to.
#[derive(Clone, Default)]
struct Recorder {
    lines: Arc<Mutex<Vec<Line>>>,
    spans: Arc<Mutex<BTreeMap<u64, Line>>>,
    numbers: Arc<AtomicU64>,
    blocks: Arc<(Mutex<bool>, Condvar)>,
}

impl Recorder {
    fn block(&self, blocks: bool) {
        *self.blocks.0.lock().expect("no holder panics") = blocks;
        self.blocks.1.notify_all();
    }

    fn wait(&self) {
        let blocks = self.blocks.0.lock().expect("no holder panics");
        drop(self.blocks.1.wait_while(blocks, |blocks| *blocks).expect("no holder panics"));
    }

    fn lines(&self) -> Vec<Line> {
        self.lines.lock().expect("no holder panics").clone()
    }

    fn spans(&self, name: &str) -> Vec<Line> {
        let spans = self.spans.lock().expect("no holder panics");
        spans.values().filter(|span| span.name == name).cloned().collect()
    }

    /// Builds a node while this is the thread's subscriber.
    fn build(&self, builder: NodeBuilder) -> Node {
        let _here = tracing::subscriber::set_default(self.clone());
        builder.build().expect("it starts")
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("baton::") || metadata.target() == "app"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.wait();
        let mut line = Line::of(span.metadata());
        span.record(&mut line);
        let number = self.numbers.fetch_add(1, Ordering::SeqCst) + 1;
        self.spans.lock().expect("no holder panics").insert(number, line);
        Id::from_u64(number)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.spans.lock().expect("no holder panics");
        values.record(spans.get_mut(&span.into_u64()).expect("it was made here"));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.wait();
        let mut line = Line::of(event.metadata());
        event.record(&mut line);
        self.lines.lock().expect("no holder panics").push(line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

fn failing(error: &'static str) -> impl baton::Plugin {
    let restart = RestartPolicy::default().tune(|it| it.limit = 1);
    let work = move |_| {
        tracing::info!(target: "app", "at work");
        std::future::ready(Err(PluginError::from(error)))
    };
    every("report", Duration::from_millis(5), work).restart(restart)
}

#[tokio::test]
async fn an_election_a_failing_plugin_and_a_demotion_are_logged_with_their_fields() {
    let recorder = Recorder::default();
    let node = recorder.build(builder(&store(), "a").plugin(failing("no disk")));
    let whose = [("namespace", "default"), ("node", "a"), ("epoch", "1")];
    let words = "this node no longer leads, epoch 1: plugins failed";
    let demoted = |line: &Line| line.says(words) && line.has(&whose);
    until("the demotion", || recorder.lines().iter().any(demoted)).await;
    soon("it to leave", node.leave()).await;

    let lines = recorder.lines();
    let found = |words: &str| {
        let line = lines.iter().find(|line| line.says(words));
        line.unwrap_or_else(|| unreachable!("nothing says {words:?}: {lines:#?}"))
    };
    let elected = found("this node leads, epoch 1");
    assert_eq!((elected.level, elected.target), (Level::INFO, "baton::election"));
    assert!(
        elected.has(&whose) && elected.has(&[("event", "coordinator-promoted")]),
        "{elected:?}"
    );
    let failed = found("plugin report failed (no disk); it starts again in 100ms");
    assert_eq!((failed.level, failed.target), (Level::WARN, "baton::plugin"));
    assert!(failed.has(&[("plugin", "report"), ("error", "no disk")]), "{failed:?}");
    let gave_up = found("plugin report failed too often and is not started again (no disk)");
    assert_eq!(gave_up.level, Level::ERROR);
    let demoted = found(words);
    assert_eq!((demoted.level, demoted.target), (Level::INFO, "baton::election"));
    assert!(demoted.has(&[("reason", r#"{"released":"plugins-failed"}"#)]), "{demoted:?}");
    // What the plugin itself logs goes to the same subscriber, inside a span that says whose it is.
    assert_eq!(found("at work").target, "app");
    let runs = recorder.spans("plugin_run");
    let of_work = [("plugin", "report"), ("call", "work"), ("epoch", "1"), ("node", "a")];
    assert!(runs.iter().any(|run| run.has(&of_work)), "{runs:?}");
}

#[tokio::test]
async fn beats_are_spans_with_what_became_of_them() {
    let recorder = Recorder::default();
    let node = recorder.build(builder(&store(), "a"));
    let renewed = [("wants", "renew"), ("outcome", "applied"), ("node", "a")];
    let is_there = |fields: &[(&str, &str)]| {
        recorder.spans("beat").iter().any(|beat| beat.level == Level::DEBUG && beat.has(fields))
    };
    until("a renewal", || is_there(&renewed)).await;
    assert!(is_there(&[("wants", "acquire"), ("outcome", "applied")]));
    soon("it to leave", node.leave()).await;
}

#[tokio::test]
async fn a_subscriber_that_blocks_holds_neither_beats_nor_departure_up() {
    let recorder = Recorder::default();
    recorder.block(true);
    let node = recorder.build(builder(&store(), "a"));
    until("the election", || node.is_leader()).await;
    let mut events = node.events();
    // Longer than the lease: without renewals the term would be over.
    for _ in 0..8 {
        let beat = |event: &Event| matches!(event, Event::WorkerHeartbeat { .. });
        event(&mut events, "a beat", beat).await;
    }
    assert!(node.is_leader());
    assert!(recorder.lines().is_empty());
    assert_eq!(soon("it to leave", node.leave()).await, Departure::Left);
    recorder.block(false);
    let written = |line: &Line| line.says("this node no longer leads, epoch 1: shut down");
    until("what was told meanwhile", || recorder.lines().iter().any(written)).await;
}
