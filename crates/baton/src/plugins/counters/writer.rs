//! The writer of a handle: gathers changes, appends them one batch after the other, and repeats an
//! append until it is answered or the deadline is over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use baton_core::protocol::Failure;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Change, CounterCall, CounterName, Delta, Store};
use tokio::sync::{mpsc, oneshot};

use super::handle::{CountError, CountersConfig};

/// The largest number of tasks that wait for one append.
const WAITING_MAX: usize = 10_000;

/// Between two tries: the first pause, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Where the task that waits for a change gets its outcome.
pub(super) type Waiter = oneshot::Sender<Result<(), CountError>>;

/// Changes that travel together, and who waits for them.
#[derive(Default)]
struct Batch {
    deltas: Vec<Delta>,
    last: BTreeMap<CounterName, usize>,
    waiting: Vec<Waiter>,
}

impl Batch {
    /// Takes one more change in, after all that are there.
    fn take(&mut self, counter: CounterName, change: Change, waiter: Waiter) {
        self.waiting.push(waiter);
        if let Some(at) = self.last.get(&counter)
            && let Some(both) = merged(self.deltas[*at].change, change)
        {
            self.deltas[*at].change = both;
            return;
        }
        self.last.insert(counter.clone(), self.deltas.len());
        self.deltas.push(Delta { counter, change });
    }

    /// Tells all that wait. Some may not wait any more.
    fn settle(self, outcome: &Result<(), CountError>) {
        for waiter in self.waiting {
            let _ = waiter.send(outcome.clone());
        }
    }
}

/// One change that does what two do; `None` if 64 bits do not hold it, and the store must judge.
fn merged(earlier: Change, later: Change) -> Option<Change> {
    match (earlier, later) {
        (_, Change::Set(value)) => Some(Change::Set(value)),
        (Change::Add(some), Change::Add(more)) => some.checked_add(more).map(Change::Add),
        (Change::Set(value), Change::Add(more)) => value.checked_add(more).map(Change::Set),
    }
}

#[derive(Debug)]
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
            if !batch.deltas.is_empty() {
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
            if batch.deltas.len() >= self.config.append_max || batch.waiting.len() >= WAITING_MAX {
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
            let (writer, deltas) = (self.boot, batch.deltas.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use baton_store::Change::{Add, Set};

    fn batch(changes: &[(&str, Change)]) -> Vec<(String, Change)> {
        let mut batch = Batch::default();
        for (counter, change) in changes {
            let counter = CounterName::new(counter).expect("it is a name");
            batch.take(counter, *change, oneshot::channel().0);
        }
        assert_eq!(batch.waiting.len(), changes.len());
        batch.deltas.iter().map(|it| (it.counter.to_string(), it.change)).collect()
    }

    #[test]
    fn changes_of_one_counter_become_one_and_keep_their_order() {
        let found = batch(&[
            ("a", Add(1)),
            ("b", Add(5)),
            ("a", Add(2)),
            ("b", Set(7)),
            ("b", Add(-1)),
            ("c", Set(1)),
            ("c", Set(2)),
        ]);
        let wanted = [("a", Add(3)), ("b", Set(6)), ("c", Set(2))];
        assert_eq!(found, wanted.map(|(name, change)| (name.to_owned(), change)));
    }

    #[test]
    fn what_does_not_fit_together_goes_one_after_the_other() {
        let found = batch(&[("a", Add(i64::MAX)), ("a", Add(1)), ("a", Add(2))]);
        let wanted = [("a", Add(i64::MAX)), ("a", Add(3))];
        assert_eq!(found, wanted.map(|(name, change)| (name.to_owned(), change)));
        let found = batch(&[("a", Set(i64::MIN)), ("a", Add(-1)), ("a", Set(0))]);
        let wanted = [("a", Set(i64::MIN)), ("a", Set(0))];
        assert_eq!(found, wanted.map(|(name, change)| (name.to_owned(), change)));
    }

    #[test]
    fn every_waiter_gets_the_outcome() {
        let (mut batch, name) = (Batch::default(), CounterName::new("a").expect("it is a name"));
        let (first, mut told_first) = oneshot::channel();
        let (second, told_second) = oneshot::channel();
        batch.take(name.clone(), Add(1), first);
        batch.take(name, Add(1), second);
        drop(told_second);
        batch.settle(&Ok(()));
        assert_eq!(told_first.try_recv(), Ok(Ok(())));
    }
}
