//! The writer of a handle: gathers changes, appends them one batch after the other, and repeats an
//! append until it is answered or the deadline is over.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Failure;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Change, CounterCall, CounterName, Store};
use tokio::sync::{mpsc, oneshot};

use super::batch::{Batch, Waiter};
use super::config::CountersConfig;
use super::error::CountError;

/// The largest number of tasks that wait for one append.
const WAITING_MAX: usize = 10_000;

/// Between two tries: the first pause, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What the writer is handed.
pub(super) enum Job {
    /// A change, and who waits for it.
    Change(CounterName, Change, Waiter),
    /// A request to be notified when every earlier job is settled.
    Flush(oneshot::Sender<()>),
}

/// Appends for one handle. One append is under way at a time: its number tells a store whether it
/// has it already.
pub(super) struct Writer {
    pub(super) store: Arc<dyn Store>,
    pub(super) namespace: Namespace,
    pub(super) config: CountersConfig,
    pub(super) boot: BootId,
}

impl Writer {
    /// Works until every sender of jobs is gone, or it is dropped.
    pub(super) async fn run(self, mut jobs: mpsc::Receiver<Job>) {
        let mut number = 0;
        while let Some(job) = jobs.recv().await {
            let mut batch = Batch::default();
            let flush = self.gather(job, &mut jobs, &mut batch).await;
            if batch.len() > 0 {
                number += 1;
                let outcome = self.append(number, &batch).await;
                batch.settle(&outcome);
            }
            if let Some(flushed) = flush {
                // The caller may have stopped waiting.
                let _ = flushed.send(());
            }
        }
    }

    /// Takes in whatever comes within the linger, up to a flush.
    async fn gather(
        &self,
        first: Job,
        jobs: &mut mpsc::Receiver<Job>,
        batch: &mut Batch,
    ) -> Option<oneshot::Sender<()>> {
        let mut over = SystemClock.sleep(self.config.linger);
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Change(counter, change, waiter) => batch.take(counter, change, waiter),
                Job::Flush(flushed) => return Some(flushed),
            }
            if batch.len() >= self.config.append_max || batch.waiting() >= WAITING_MAX {
                return None;
            }
            next = tokio::select! {
                biased;
                job = jobs.recv() => job,
                () = &mut over => None,
            };
        }
        None
    }

    async fn append(&self, number: u64, batch: &Batch) -> Result<(), CountError> {
        let gives_up_at = SystemClock.now() + self.config.deadline;
        let (mut pause, mut doubt) = (PAUSE_MIN, None);
        loop {
            let (writer, deltas) = (self.boot, batch.deltas().to_vec());
            let call = CounterCall::Append { writer, number, deltas };
            let Err(error) = self.store.counters(&self.namespace, call).await else {
                return Ok(());
            };
            if error.failure() == Failure::Unknown {
                doubt = Some(error.to_string());
            }
            let is_final = error.failure() == Failure::Rejected;
            if is_final || SystemClock.now() + pause >= gives_up_at {
                return Err(match doubt {
                    Some(detail) => CountError::Unknown { detail },
                    None if is_final => CountError::Store(error),
                    None => CountError::NotCounted { detail: error.to_string() },
                });
            }
            SystemClock.sleep(pause).await;
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }
}
