//! The handle that any process counts through, its settings and its errors.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_store::{
    APPEND_MAX, Change, CounterAnswer, CounterCall, CounterName, CounterValue, InvalidCounter,
    Reading, Store, StoreError,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::plugin::consolidated;
use super::writer::{Job, Writer};
use crate::error::BuildError;
use crate::random::fresh_boot;

/// The largest number of changes that wait to be gathered. A further caller waits for a place.
const QUEUE_MAX: usize = 4_096;

const PAGE: u32 = 1_000;

const ENDED: &str = "the runtime that counted ended";

/// The longest that an append may be repeated for. Stores keep the numbers of writers for longer.
pub(super) const DEADLINE_MAX: Duration = Duration::from_secs(600);

/// How a handle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountersConfig {
    /// How long changes are gathered before they are appended together. None at all still takes
    /// together whatever waits while an append is under way.
    pub linger: Duration,
    /// How long an append that was not answered, or not taken, is tried again. At most ten minutes.
    pub deadline: Duration,
    /// The largest number of counters in one append. A store takes at most 1,000.
    pub append_max: usize,
}

impl Default for CountersConfig {
    fn default() -> Self {
        Self {
            linger: Duration::from_millis(2),
            deadline: Duration::from_secs(30),
            append_max: APPEND_MAX,
        }
    }
}

impl CountersConfig {
    /// The same, within the bounds of what a store takes.
    pub(super) fn bounded(self) -> Self {
        Self {
            deadline: self.deadline.min(DEADLINE_MAX),
            append_max: self.append_max.clamp(1, APPEND_MAX),
            ..self
        }
    }
}

/// Why something was not counted or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// Give another name.
    #[error(transparent)]
    Name(#[from] InvalidCounter),
    /// Change by less at once.
    #[error(
        "{counter} cannot be lowered by {by}: the amount is too large to negate; subtract it in \
         two steps"
    )]
    TooFar {
        /// Which counter.
        counter: CounterName,
        /// By how much.
        by: i64,
    },
    /// It may have been counted, once: compare with what is read, or accept the doubt.
    #[error("the change may or may not have been counted ({detail}); it is not retried")]
    Unknown {
        /// What happened to the last try that had no answer.
        detail: String,
    },
    /// It was certainly not counted: try again later.
    #[error("the change was not counted ({detail}); try again")]
    NotCounted {
        /// What happened last.
        detail: String,
    },
    /// The counter left the range of 64 bits: its value is not known any more. Set it.
    #[error("{counter} overflowed 64 bits and stands at {value}; set it to count on")]
    Overflowed {
        /// Which counter.
        counter: CounterName,
        /// The end of the range that it left.
        value: i64,
    },
    /// The system gives no random numbers.
    #[error("{0}")]
    NoChance(String),
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<BuildError> for CountError {
    fn from(error: BuildError) -> Self {
        Self::NoChance(error.to_string())
    }
}

/// Counts in one namespace, from any process, whether it takes part in the cluster or not.
///
/// Clones are handles on the same writer: keep one and clone it, so that what many tasks count
/// travels together. The writer runs on the runtime that first counts, and ends with the last
/// clone.
///
/// # When a future is dropped
///
/// A change whose future is dropped before it resolves is not taken back. It is counted once if the
/// handle lives on, and may be lost together with the last handle: [`Counters::flush`] first.
#[derive(Clone, Debug)]
pub struct Counters {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    namespace: Namespace,
    config: CountersConfig,
    running: Mutex<Option<Running>>,
}

/// The writer's task ends when this is dropped.
#[derive(Debug)]
struct Running {
    jobs: mpsc::Sender<Job>,
    _task: JoinSet<()>,
}

impl Counters {
    /// A handle on the counters of this namespace. The store must declare
    /// [`Counters`](baton_store::Capability::Counters).
    pub fn new(store: Arc<dyn Store>, namespace: Namespace) -> Self {
        Self::with_config(store, namespace, CountersConfig::default())
    }

    /// The same, with these settings, each within its bounds.
    pub fn with_config(
        store: Arc<dyn Store>,
        namespace: Namespace,
        config: CountersConfig,
    ) -> Self {
        let (config, running) = (config.bounded(), Mutex::default());
        Self { inner: Arc::new(Inner { store, namespace, config, running }) }
    }

    /// Adds to a counter. Returns once that is durable in the store.
    pub async fn add(&self, counter: &str, more: i64) -> Result<(), CountError> {
        self.change(counter, Change::Add(more)).await
    }

    /// Takes from a counter. Returns once that is durable in the store.
    pub async fn sub(&self, counter: &str, less: i64) -> Result<(), CountError> {
        let Some(more) = less.checked_neg() else {
            let counter = CounterName::new(counter)?;
            return Err(CountError::TooFar { counter, by: less });
        };
        self.change(counter, Change::Add(more)).await
    }

    /// Sets a counter: what this handle counted before is gone, what it counts from now on is on
    /// top. Returns once that is durable in the store.
    pub async fn set(&self, counter: &str, value: i64) -> Result<(), CountError> {
        self.change(counter, Change::Set(value)).await
    }

    async fn change(&self, counter: &str, change: Change) -> Result<(), CountError> {
        let counter = CounterName::new(counter)?;
        let (waiter, told) = oneshot::channel();
        self.hand_over(Job::Change(counter, change, waiter)).await?;
        told.await.map_err(|_| CountError::Unknown { detail: ENDED.to_owned() })?
    }

    /// Waits until everything that was counted before is settled.
    pub async fn flush(&self) -> Result<(), CountError> {
        let (flushed, told) = oneshot::channel();
        self.hand_over(Job::Flush(flushed)).await?;
        // A writer that ended has nothing left to settle.
        let _ = told.await;
        Ok(())
    }

    async fn hand_over(&self, job: Job) -> Result<(), CountError> {
        let sent = self.jobs()?.send(job).await;
        sent.map_err(|_| CountError::NotCounted { detail: ENDED.to_owned() })
    }

    /// Where the writer takes jobs. It is started by the first, and anew, as another writer, if
    /// the runtime it was started on has ended.
    fn jobs(&self) -> Result<mpsc::Sender<Job>, CountError> {
        let mut running = self.inner.running.lock().expect("no holder panics");
        if let Some(running) = running.as_ref().filter(|it| !it.jobs.is_closed()) {
            return Ok(running.jobs.clone());
        }
        let writer = Writer {
            store: self.inner.store.clone(),
            namespace: self.inner.namespace.clone(),
            config: self.inner.config,
            boot: fresh_boot()?,
        };
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let mut task = JoinSet::new();
        task.spawn(writer.run(queue));
        *running = Some(Running { jobs: jobs.clone(), _task: task });
        Ok(jobs)
    }

    /// The value with everything that is pending: exact at the moment of the look. 0 for what was
    /// never counted.
    pub async fn get(&self, counter: &str) -> Result<i64, CountError> {
        self.look(counter, |reading| reading.current).await
    }

    /// The value that the leader has consolidated: of the last minute, unless told otherwise.
    pub async fn get_consolidated(&self, counter: &str) -> Result<i64, CountError> {
        self.look(counter, |reading| reading.consolidated).await
    }

    async fn look(
        &self,
        counter: &str,
        which: impl Fn(&Reading) -> CounterValue,
    ) -> Result<i64, CountError> {
        let found = self.read(&[counter]).await?;
        let Some(reading) = found.first() else { return Ok(0) };
        match which(reading) {
            CounterValue { value, overflowed: false } => Ok(value),
            CounterValue { value, .. } => {
                Err(CountError::Overflowed { counter: reading.counter.clone(), value })
            }
        }
    }

    /// Several counters at one moment, by name. What was never counted is left out.
    pub async fn read(&self, counters: &[&str]) -> Result<Vec<Reading>, CountError> {
        let names = counters.iter().map(|name| CounterName::new(name));
        let counters = names.collect::<Result<_, _>>()?;
        self.readings(CounterCall::Read { counters }).await
    }

    /// Every counter whose name begins so, by name; a thousand at one moment.
    pub async fn list(&self, prefix: &str) -> Result<Vec<Reading>, CountError> {
        let mut all: Vec<Reading> = Vec::new();
        loop {
            let after = all.last().map(|reading| reading.counter.clone());
            let call = CounterCall::List { prefix: prefix.to_owned(), after, limit: PAGE };
            let page = self.readings(call).await?;
            let is_last = page.len() < PAGE as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    async fn readings(&self, call: CounterCall) -> Result<Vec<Reading>, CountError> {
        match self.inner.store.counters(&self.inner.namespace, call).await? {
            CounterAnswer::Readings(readings) => Ok(readings),
            other => unreachable!("a store answers a reading in kind, and this is not: {other:?}"),
        }
    }

    /// Asks the leader to consolidate now, and waits for that, though not longer than this.
    /// Says whether it was done: not if no node leads, or the leader does not have the plugin.
    pub async fn consolidate_now(&self, patience: Duration) -> Result<bool, CountError> {
        consolidated(&*self.inner.store, &self.inner.namespace, patience).await
    }
}
