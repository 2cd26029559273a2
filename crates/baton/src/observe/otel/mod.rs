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

mod instruments;
mod otlp;
mod spans;

use std::sync::Arc;

use baton_core::ids::{Namespace, NodeId};
use baton_store::wrap::Observer;
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;

pub use otlp::TelemetryError;

pub(crate) use spans::Spans;

use crate::event::EventSender;
use crate::shared::Shared;

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
        events: EventSender,
        (namespace, node): (&Namespace, &NodeId),
    ) -> (EventSender, Option<Observer>) {
        let whose = [("namespace", namespace.to_string()), ("node", node.to_string())];
        let whose = whose.map(|(label, name)| KeyValue::new(label, name));
        let spans = Arc::new(Spans::new(self.tracers.tracer(SCOPE), whose));
        let observer = spans::of_calls(spans.clone(), &self.meters.meter(SCOPE));
        (events.traced(spans), Some(observer))
    }

    pub(crate) fn measure(&self, node: &Arc<Shared>) {
        instruments::install(&self.meters.meter(SCOPE), node);
    }
}
