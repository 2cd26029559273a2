//! A store whose calls are spans, and are measured.

use std::sync::Arc;
use std::time::SystemTime;

use baton_core::ids::Namespace;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{BOUNDS, Layer, Outcome, Wrapped};
use baton_store::{Answer, Backend, Call, Operation, Store, StoreError};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::trace::Status;

use super::spans::{Spans, wall};

struct Traced {
    spans: Arc<Spans>,
    took: Histogram<f64>,
}

/// The store with the layer around it.
pub fn around(store: Arc<dyn Store>, spans: Arc<Spans>, meter: &Meter) -> Arc<dyn Store> {
    let bounds = BOUNDS.iter().map(std::time::Duration::as_secs_f64).collect();
    let took = meter
        .f64_histogram("baton.store.operation.seconds")
        .with_description("How long requests to the store took, by operation.")
        .with_unit("s")
        .with_boundaries(bounds)
        .build();
    Arc::new(Wrapped::new(store, Traced { spans, took }))
}

#[async_trait::async_trait]
impl Layer for Traced {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        let mut under_way = UnderWay {
            traced: self,
            kind: call.kind(),
            began: SystemClock.now(),
            began_at: wall(SystemClock.wall_ms()),
            outcome: Outcome::TimedOut,
        };
        let answer = inner.call(namespace, call).await;
        under_way.outcome = Outcome::of(&answer);
        answer
    }
}

/// A call under way. Recorded when it ends, also if its caller has stopped waiting for it.
struct UnderWay<'a> {
    traced: &'a Traced,
    kind: &'static str,
    began: Moment,
    began_at: SystemTime,
    outcome: Outcome,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let took = SystemClock.now().since(self.began);
        let Traced { spans, took: histogram } = self.traced;
        let operation = KeyValue::new("operation", self.kind);
        let [namespace, node] = spans.whose().clone();
        histogram.record(took.as_secs_f64(), &[namespace, node, operation.clone()]);
        let outcome = KeyValue::new("outcome", self.outcome.name());
        let status = match self.outcome {
            Outcome::Ok => Status::Unset,
            failed => Status::error(failed.name()),
        };
        let name = format!("baton.store.{}", self.kind);
        spans.record(name, (self.began_at, took), vec![operation, outcome], status);
    }
}
