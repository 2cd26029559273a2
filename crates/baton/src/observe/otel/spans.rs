//! Events as spans: one for each term of this node, one for each time in which a leader was
//! looked for.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use baton_core::{DemotionReason, Event};
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};
use serde_json::Value;

use crate::event::Stamped;

/// What is open.
#[derive(Default)]
struct Open {
    term: Option<Span>,
    election: Option<Span>,
}

/// Makes spans of what a node tells.
pub(crate) struct Spans {
    tracer: SdkTracer,
    whose: [KeyValue; 2],
    open: Mutex<Open>,
}

impl Spans {
    pub(super) fn new(tracer: SdkTracer, whose: [KeyValue; 2]) -> Self {
        Self { tracer, whose, open: Mutex::default() }
    }

    /// Whose spans these are.
    pub(super) fn whose(&self) -> &[KeyValue; 2] {
        &self.whose
    }

    /// Something was told.
    pub(crate) fn told(&self, stamped: &Stamped) {
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

    /// A span that is over already, part of the running term if there is one.
    pub(super) fn record(
        &self,
        name: String,
        (began, took): (SystemTime, Duration),
        attributes: Vec<KeyValue>,
        status: Status,
    ) {
        let parent = self.open().term.as_ref().map(|term| term.span_context().clone());
        let parent = parent
            .map_or_else(Context::new, |parent| Context::new().with_remote_span_context(parent));
        let attributes = self.whose.iter().cloned().chain(attributes);
        let span = self.tracer.span_builder(name).with_kind(SpanKind::Client);
        let span = span.with_start_time(began).with_attributes(attributes);
        let mut span = self.tracer.build_with_context(span, &parent);
        span.set_status(status);
        span.end_with_timestamp(began + took);
    }

    fn begin(&self, name: &'static str, at: SystemTime, epoch: u64) -> Span {
        let epoch = (epoch > 0).then(|| KeyValue::new("baton.epoch", number(epoch)));
        let attributes = self.whose.iter().cloned().chain(epoch);
        let span = self.tracer.span_builder(name).with_start_time(at).with_attributes(attributes);
        self.tracer.build_with_context(span, &Context::new())
    }

    fn open(&self) -> MutexGuard<'_, Open> {
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
    let fields = fields.map(|(name, value)| KeyValue::new(name, bare(&value))).collect();
    term.add_event_with_timestamp(event.name(), at, fields);
}

/// A reason as it stands in events.
fn words(reason: &DemotionReason) -> String {
    serde_json::to_value(reason).map_or_else(|_| String::new(), |value| bare(&value))
}

fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn wall(unix_ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(unix_ms)
}

fn number(epoch: u64) -> i64 {
    i64::try_from(epoch).unwrap_or(i64::MAX)
}
