//! OpenTelemetry: a node's terms, elections and store operations as traces, its figures as metrics.
//!
//! ```text
//!   events ──► Spans ─────────────► baton.term  baton.election          ┐
//!                │ parent                                               ├─► tracer provider
//!   store ◄── Count (a layer) ────► baton.store.renew, .beat, …         ┘
//!                └────────────────► baton.store.operation.seconds       ┐
//!   NodeMetrics ◄── instruments ──► baton.leader, baton.epoch, …        ├─► meter provider
//!                   asked when the provider collects                    ┘
//! ```
//!
//! What becomes of a span, which are sampled and where they go is the providers' affair. A span
//! ends on the thread that noticed: give providers whose processors hand over and do not wait, as
//! the batch processor does. [`Telemetry::otlp`] makes such a pair.

mod otlp;
mod spans;

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use baton_core::ids::{Namespace, NodeId};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::Observer;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter, MeterProvider as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

pub use otlp::TelemetryError;

pub(crate) use spans::Spans;

use crate::event::EventSender;
use crate::observe::{FamilyKind, NodeMetrics, Sample, gather};
use crate::shared::Shared;

/// What spans and instruments say they come from.
const SCOPE: &str = "baton";

/// Where traces and metrics go. Clones are handles on the same providers.
#[derive(Clone, Debug)]
pub struct Telemetry {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
}

impl Telemetry {
    /// Through these providers.
    pub fn new(tracers: SdkTracerProvider, meters: SdkMeterProvider) -> Self {
        Self { tracers, meters }
    }

    /// Sends what has not been sent, and ends. Blocks until that is done, so not on a thread that
    /// others wait for. What a node reports afterwards is sent nowhere.
    pub fn shutdown(&self) {
        // A failure to send has no receiver either.
        let _ = self.tracers.shutdown();
        let _ = self.meters.shutdown();
    }

    /// The same without the end: what has gathered so far is sent.
    pub fn flush(&self) {
        let _ = self.tracers.force_flush();
        let _ = self.meters.force_flush();
    }

    /// Makes spans of the node's events and of every call of the store.
    pub(crate) fn trace(
        &self,
        mut events: EventSender,
        (namespace, node): (&Namespace, &NodeId),
    ) -> (EventSender, Option<Observer>) {
        let node_attributes = [("namespace", namespace.to_string()), ("node", node.to_string())];
        let node_attributes = node_attributes.map(|(label, name)| KeyValue::new(label, name));
        let tracer = self.tracers.tracer(SCOPE);
        let spans = Arc::new(Spans { tracer, node_attributes, open: Mutex::default() });
        let observer = spans::call_observer(spans.clone(), &self.meters.meter(SCOPE));
        events.spans = Some(spans);
        (events, Some(observer))
    }

    pub(crate) fn measure(&self, node: &Arc<Shared>) {
        install(&self.meters.meter(SCOPE), node);
    }
}

/// Every instrument is asked in turn: within this time they share one look at the node.
const CACHED_FOR: Duration = Duration::from_millis(100);

/// The node's figures as instruments that are asked when the provider collects, looked at once for
/// all of a collection.
struct CachedFigures {
    /// An instrument lasts as long as its provider, and has nothing to say of a node that is gone.
    node: Weak<Shared>,
    last: Mutex<Option<(Moment, Arc<NodeMetrics>)>>,
}

impl CachedFigures {
    fn figures(&self) -> Option<Arc<NodeMetrics>> {
        let now = SystemClock.now();
        let mut last = self.last.lock().expect("no holder panics");
        if let Some((_, figures)) = last.as_ref().filter(|(at, _)| now.since(*at) < CACHED_FOR) {
            return Some(figures.clone());
        }
        let figures = self.node.upgrade().map(|node| Arc::new(gather(&node)));
        *last = figures.clone().map(|figures| (now, figures));
        figures
    }

    fn observe(&self, family: &str, observer: &dyn AsyncInstrument<f64>) {
        let Some(figures) = self.figures() else { return };
        let samples = figures.family(family).map_or(&[][..], |family| &family.samples);
        for sample in samples.iter().filter(|sample| sample.suffix.is_empty()) {
            observer.observe(sample.value, &attributes(sample));
        }
    }
}

fn attributes(sample: &Sample) -> Vec<KeyValue> {
    let labels = sample.labels.iter();
    labels.map(|(label, value)| KeyValue::new(*label, value.clone())).collect()
}

/// The name under which a family goes here: with dots, without `_total`.
fn dotted(family: &str) -> String {
    family.strip_suffix("_total").unwrap_or(family).replace('_', ".")
}

/// Makes an instrument of every family.
fn install(meter: &Meter, node: &Arc<Shared>) {
    let cached = Arc::new(CachedFigures { node: Arc::downgrade(node), last: Mutex::default() });
    for family in &gather(node).families {
        let (name, cached) = (family.name, cached.clone());
        let unit = if name.contains("_seconds") { "s" } else { "1" };
        match family.kind {
            FamilyKind::Counter => drop(
                meter
                    .f64_observable_counter(dotted(name))
                    .with_description(family.help)
                    .with_unit(unit)
                    .with_callback(move |observer| cached.observe(name, observer))
                    .build(),
            ),
            FamilyKind::Gauge | FamilyKind::Summary => drop(
                meter
                    .f64_observable_gauge(dotted(name))
                    .with_description(family.help)
                    .with_unit(unit)
                    .with_callback(move |observer| cached.observe(name, observer))
                    .build(),
            ),
            // The layer around the store records it call by call.
            FamilyKind::Histogram => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_dots_and_no_total() {
        let cases = [
            ("baton_leader", "baton.leader"),
            ("baton_store_operations_total", "baton.store.operations"),
            ("baton_leaderless_seconds_total", "baton.leaderless.seconds"),
        ];
        for (family, name) in cases {
            assert_eq!(dotted(family), name);
        }
    }
}
