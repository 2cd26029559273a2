//! A store that takes its time: a span on the way there, and one on the way back.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::rng::Rng;

use super::wrapped::{Layer, Wrapped};
use crate::clock::Clock;
use crate::contract::{Backend, Contract};
use crate::error::StoreError;

/// Waits before and after the inner call, each time for a span drawn from the seed.
pub struct Latency {
    clock: Arc<dyn Clock>,
    spans: RangeInclusive<Duration>,
    rng: Mutex<Rng>,
}

impl Latency {
    /// A store whose way there and way back each take a span from the range, by this clock.
    pub fn around<C: Contract>(
        inner: Arc<dyn Backend<C>>,
        clock: Arc<dyn Clock>,
        spans: RangeInclusive<Duration>,
        seed: u64,
    ) -> Wrapped<Self, C> {
        let rng = Mutex::new(Rng::new(seed));
        Wrapped::new(inner, Self { clock, spans, rng })
    }

    fn draw(&self) -> Duration {
        let mut rng = self.rng.lock().expect("no draw panics");
        rng.span(*self.spans.start(), *self.spans.end())
    }
}

#[async_trait]
impl<C: Contract> Layer<C> for Latency {
    async fn call(
        &self,
        inner: &dyn Backend<C>,
        namespace: &Namespace,
        call: C::Call,
    ) -> Result<C::Answer, StoreError> {
        let (there, back) = (self.draw(), self.draw());
        self.clock.sleep(there).await;
        let answer = inner.call(namespace, call).await;
        self.clock.sleep(back).await;
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, poll_fn};
    use std::pin::{Pin, pin};
    use std::task::Poll;

    use super::*;
    use crate::clock::ManualClock;
    use crate::document::Precondition;
    use crate::election::Store;
    use crate::memory::testing;

    const SPAN: Duration = Duration::from_millis(5);

    async fn is_ready<F: Future>(mut call: Pin<&mut F>) -> bool {
        poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await
    }

    #[tokio::test]
    async fn the_call_lands_after_one_span_and_returns_after_two() {
        let clock = Arc::new(ManualClock::default());
        let inner = testing::store(clock.clone());
        let slow = Latency::around(inner.clone(), clock.clone(), SPAN..=SPAN, 1);
        let space = testing::namespace();
        let mut call = pin!(slow.write_document(&space, "d", vec![1], Precondition::Any, None));
        let written = || inner.read_document(&space, "d");

        assert!(!is_ready(call.as_mut()).await);
        assert_eq!(written().await, Ok(None), "on its way there");
        clock.advance(SPAN);
        assert!(!is_ready(call.as_mut()).await, "on its way back");
        assert!(written().await.expect("the store answers").is_some());
        clock.advance(SPAN);
        assert!(is_ready(call.as_mut()).await);
    }

    #[test]
    fn the_same_seed_draws_the_same_spans_within_the_range() {
        let spans = |seed| {
            let clock: Arc<ManualClock> = Arc::default();
            let slow = Latency::around(testing::store(clock.clone()), clock, SPAN..=SPAN * 9, seed);
            let drawn = |_| slow.layer().draw();
            (0..50).map(drawn).collect::<Vec<_>>()
        };
        assert_eq!(spans(3), spans(3));
        assert_ne!(spans(3), spans(4));
        assert!(spans(3).iter().all(|span| (SPAN..=SPAN * 9).contains(span)));
    }
}
