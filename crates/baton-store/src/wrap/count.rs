//! A store whose calls are counted and timed, by kind. Nothing more is asked of the store inside.
//! The caller waits for a few additions and, if there is one, for the observer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::protocol::Failure;
use baton_core::time::Moment;

use super::wrapped::{Layer, Wrapped};
use crate::clock::Clock;
use crate::contract::{Backend, Contract};
use crate::counts_by_name::CountsByName;
use crate::error::StoreError;
use crate::operation::Operation;

/// The longest that a call of each bucket took. What takes longer than the last is in none.
pub const BOUNDS: [Duration; 14] = [
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2_500),
    Duration::from_secs(5),
];

/// How a call ended, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The store answered; that a condition did not hold is an answer too.
    Ok,
    /// Nothing was written, and trying again may help.
    Unavailable,
    /// It is not known whether it was applied.
    Unknown,
    /// The store refuses: a person must act.
    Rejected,
    /// The caller's time was over before an answer came. What was asked may still happen.
    TimedOut,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 5] =
        [Self::Ok, Self::Unavailable, Self::Unknown, Self::Rejected, Self::TimedOut];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
            Self::Rejected => "rejected",
            Self::TimedOut => "timeout",
        }
    }

    /// What the answer comes to.
    pub fn of<T>(answer: &Result<T, StoreError>) -> Self {
        match answer.as_ref().map_err(StoreError::failure) {
            Ok(_) => Self::Ok,
            Err(Failure::NotDone) => Self::Unavailable,
            Err(Failure::Unknown) => Self::Unknown,
            Err(Failure::Rejected) => Self::Rejected,
        }
    }
}

/// The calls of one kind so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Their short name, as [`Operation::kind`] has it.
    pub kind: &'static str,
    /// How many ended in each way, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    /// How many took longer than the bound before and not longer than this one of [`BOUNDS`].
    pub buckets: [u64; BOUNDS.len()],
    /// How long all of them took together.
    pub took: Duration,
}

impl Counted {
    /// How many ended like this.
    pub fn ended(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}

#[derive(Default)]
struct Counters {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    buckets: [AtomicU64; BOUNDS.len()],
    took_micros: AtomicU64,
}

impl Counters {
    fn add(&self, outcome: Outcome, took: Duration) {
        self.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        if let Some(bucket) = BOUNDS.iter().position(|bound| took <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.took_micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn read(&self, kind: &'static str) -> Counted {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            kind,
            outcomes: self.outcomes.each_ref().map(load),
            buckets: self.buckets.each_ref().map(load),
            took: Duration::from_micros(load(&self.took_micros)),
        }
    }
}

/// Is called at the end of each call with its kind, how long it took, and how it ended; but not if
/// the call panicked.
pub type Observer = Box<dyn Fn(&'static str, Duration, Outcome) + Send + Sync>;

/// Counts calls, and how long they took, by kind.
pub struct Count {
    clock: Arc<dyn Clock>,
    counters: CountsByName<Counters>,
    observer: Option<Observer>,
}

impl Count {
    /// A store whose calls are counted, timed by this clock and reported to the observer.
    pub fn around<C: Contract>(
        inner: Arc<dyn Backend<C>>,
        clock: Arc<dyn Clock>,
        observer: Option<Observer>,
    ) -> Wrapped<Self, C> {
        Wrapped::new(inner, Self { clock, counters: CountsByName::default(), observer })
    }

    /// The counts so far, a kind each.
    pub fn counted(&self) -> Vec<Counted> {
        self.counters.iter().map(|(kind, counters)| counters.read(kind)).collect()
    }
}

#[async_trait]
impl<C: Contract> Layer<C> for Count {
    async fn call(
        &self,
        inner: &dyn Backend<C>,
        namespace: &Namespace,
        call: C::Call,
    ) -> Result<C::Answer, StoreError> {
        let (kind, began) = (call.kind(), self.clock.now());
        let mut under_way = UnderWay { count: self, kind, began, outcome: Outcome::TimedOut };
        let answer = inner.call(namespace, call).await;
        under_way.outcome = Outcome::of(&answer);
        answer
    }
}

/// A call, counted when it ends, also if that is because its caller no longer waits for it.
struct UnderWay<'a> {
    count: &'a Count,
    kind: &'static str,
    began: Moment,
    outcome: Outcome,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let broke = std::thread::panicking();
        let outcome = if broke { Outcome::Unknown } else { self.outcome };
        let took = self.count.clock.now().since(self.began);
        self.count.counters.of(self.kind).add(outcome, took);
        // An observer that panicked now would abort the process.
        if let Some(observer) = self.count.observer.as_ref().filter(|_| !broke) {
            observer(self.kind, took, outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::task::Poll;

    use super::*;
    use crate::capability::Capability;
    use crate::clock::ManualClock;
    use crate::election::{Answer, Call, Store};
    use crate::memory::testing;
    use crate::wrap::{CallFault, Faults};

    /// A store that never answers.
    struct Silent;

    #[async_trait]
    impl Layer for Silent {
        async fn call(
            &self,
            _inner: &dyn Backend,
            _namespace: &Namespace,
            _call: Call,
        ) -> Result<Answer, StoreError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn calls_are_counted_by_kind_and_outcome() {
        use CallFault::{TurnedAway, Unreachable};
        let clock: Arc<ManualClock> = Arc::default();
        let script = [("members", Unreachable), ("history", CallFault::RequestLost)];
        let script = script.into_iter().chain([("members", TurnedAway)]);
        let broken = Faults::scripted(testing::store(clock.clone()), script);
        let counted = Count::around(Arc::new(broken), clock, None);
        let space = testing::namespace();
        for _ in 0..4 {
            let _ = counted.members(&space).await;
            let _ = counted.history(&space, 1).await;
        }
        let [members, history] = &counted.layer().counted()[..] else {
            unreachable!("two kinds were asked for");
        };
        assert_eq!((members.kind, members.outcomes), ("members", [2, 2, 0, 0, 0]));
        assert_eq!((history.kind, history.outcomes), ("history", [3, 0, 1, 0, 0]));
        assert_eq!((members.total(), history.ended(Outcome::Unknown)), (4, 1));
    }

    #[tokio::test]
    async fn a_call_is_timed_and_one_that_was_given_up_is_counted_too() {
        let clock: Arc<ManualClock> = Arc::default();
        let span = Duration::from_millis(4);
        let silent = Wrapped::new(testing::store(clock.clone()), Silent);
        let counted = Count::around(Arc::new(silent), clock.clone(), None);
        let space = testing::namespace();
        {
            let mut call = pin!(counted.members(&space));
            let waits = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
            assert!(waits, "it takes its time");
            clock.advance(span);
        }
        let seen = &counted.layer().counted()[0];
        assert_eq!((seen.outcomes, seen.took), ([0, 0, 0, 0, 1], span));
        let bucket = BOUNDS.iter().position(|bound| *bound == Duration::from_millis(5));
        assert_eq!(seen.buckets.iter().position(|count| *count == 1), bucket);
    }

    #[tokio::test]
    async fn what_the_store_declares_and_pushes_passes_through() {
        let clock: Arc<ManualClock> = Arc::default();
        let inner = testing::store(clock.clone());
        let counted = Count::around(inner.clone(), clock, None);
        assert_eq!(counted.declaration(), inner.declaration());
        let pushes = inner.declaration().has(Capability::Push);
        assert_eq!(counted.hints(&testing::namespace()).await.is_ok(), pushes);
        assert!(counted.layer().counted().is_empty(), "neither is a call");
    }
}
