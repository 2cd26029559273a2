//! Events as spans: one for each term of this node, one for each time in which a leader was
//! looked for; and one for each call of the store.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use baton_core::{DemotionReason, Event};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{BOUNDS, Observer, Outcome};
use opentelemetry::metrics::Meter;
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};
use serde_json::Value;

use crate::event::Stamped;
use crate::observe::bare;

/// Makes each call of the store a span, and measures it.
pub(super) fn call_observer(spans: Arc<Spans>, meter: &Meter) -> Observer {
    let took_by_operation = meter
        .f64_histogram("baton.store.operation.seconds")
        .with_description("How long requests to the store took, by operation.")
        .with_unit("s")
        .with_boundaries(BOUNDS.iter().map(Duration::as_secs_f64).collect())
        .build();
    Box::new(move |kind, took, outcome| {
        let [namespace, node] = spans.node_attributes.clone();
        let attributes = [namespace, node, KeyValue::new("operation", kind)];
        took_by_operation.record(took.as_secs_f64(), &attributes);
        spans.record_call(kind, took, outcome);
    })
}

#[derive(Default)]
pub(super) struct OpenSpans {
    term: Option<Span>,
    election: Option<Span>,
}

/// Makes spans of a node's events.
pub(crate) struct Spans {
    pub(super) tracer: SdkTracer,
    pub(super) node_attributes: [KeyValue; 2],
    pub(super) open: Mutex<OpenSpans>,
}

impl Spans {
    pub(crate) fn record(&self, stamped: &Stamped) {
        let at = wall(stamped.at_ms);
        let mut open = self.open();
        match &stamped.event {
            Event::WorkerHeartbeat { .. } | Event::ElectionCheck { .. } => {}
            Event::CoordinatorElected { epoch, .. } => {
                open.term = Some(self.begin("baton.term", at, epoch.0));
            }
            Event::CoordinatorPromoted { epoch } => {
                // A node that leads alone is not elected.
                let term = open.term.get_or_insert_with(|| self.begin("baton.term", at, epoch.0));
                note(term, &stamped.event, at);
            }
            Event::CoordinatorDemoted { reason, .. } => {
                if let Some(term) = open.term.take() {
                    end_term(term, reason, at);
                }
            }
            Event::LeaderDown { .. } | Event::LeaderChanged { new: None, .. } => {
                open.election.get_or_insert_with(|| self.begin("baton.election", at, 0));
            }
            Event::LeaderChanged { new: Some(leader), epoch, .. } => {
                if let Some(mut election) = open.election.take() {
                    election.set_attribute(KeyValue::new("baton.epoch", number(epoch.0)));
                    election.set_attribute(KeyValue::new("baton.leader", leader.to_string()));
                    election.end_with_timestamp(at);
                }
            }
            other => {
                if let Some(term) = &mut open.term {
                    note(term, other, at);
                }
            }
        }
    }

    /// A call of the store, recorded at its end: a span of the running term if there is one.
    fn record_call(&self, kind: &'static str, took: Duration, outcome: Outcome) {
        let parent = self.open().term.as_ref().map(|term| term.span_context().clone());
        let parent = parent
            .map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent));
        let of_call = [KeyValue::new("operation", kind), KeyValue::new("outcome", outcome.name())];
        let ended = wall(SystemClock.wall_ms());
        let span = self.tracer.span_builder(format!("baton.store.{kind}"));
        let span = span.with_kind(SpanKind::Client).with_start_time(ended - took);
        let span = span.with_attributes(self.node_attributes.iter().cloned().chain(of_call));
        let mut span = self.tracer.build_with_context(span, &parent);
        span.set_status(match outcome {
            Outcome::Ok => Status::Unset,
            failed => Status::error(failed.name()),
        });
        span.end_with_timestamp(ended);
    }

    fn begin(&self, name: &'static str, at: SystemTime, epoch: u64) -> Span {
        let epoch = (epoch > 0).then(|| KeyValue::new("baton.epoch", number(epoch)));
        let attributes = self.node_attributes.iter().cloned().chain(epoch);
        let span = self.tracer.span_builder(name).with_start_time(at).with_attributes(attributes);
        self.tracer.build_with_context(span, &Context::new())
    }

    fn open(&self) -> MutexGuard<'_, OpenSpans> {
        self.open.lock().expect("no holder panics")
    }
}

fn end_term(mut term: Span, reason: &DemotionReason, at: SystemTime) {
    term.set_attribute(KeyValue::new("baton.end_reason", words(reason)));
    if !matches!(reason, DemotionReason::Released(_)) {
        term.set_status(Status::error("the term was lost"));
    }
    term.end_with_timestamp(at);
}

/// Adds any other event of a term to its span.
fn note(term: &mut Span, event: &Event, at: SystemTime) {
    let fields = match serde_json::to_value(event) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let fields = fields.into_iter().filter(|(name, _)| name != "event");
    let fields = fields.map(|(name, value)| KeyValue::new(name, bare(value))).collect();
    term.add_event_with_timestamp(event.name(), at, fields);
}

fn words(reason: &DemotionReason) -> String {
    serde_json::to_value(reason).map_or_else(|_| String::new(), bare)
}

fn wall(unix_ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(unix_ms)
}

fn number(epoch: u64) -> i64 {
    i64::try_from(epoch).unwrap_or(i64::MAX)
}
