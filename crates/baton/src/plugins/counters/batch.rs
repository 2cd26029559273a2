//! What goes into one append: the changes of many tasks, summed up per counter.

use std::collections::BTreeMap;

use baton_store::{Change, CounterName, Delta};
use tokio::sync::oneshot;

use super::error::CountError;

/// Where the task that waits for a change gets its outcome.
pub(super) type Waiter = oneshot::Sender<Result<(), CountError>>;

/// Changes that travel together, and who waits for them.
#[derive(Default)]
pub(super) struct Batch {
    deltas: Vec<Delta>,
    last: BTreeMap<CounterName, usize>,
    waiting: Vec<Waiter>,
}

impl Batch {
    /// How many changes it comes to.
    pub(super) fn len(&self) -> usize {
        self.deltas.len()
    }

    /// How many wait for it.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes one more change in, after all that are there.
    pub(super) fn take(&mut self, counter: CounterName, change: Change, waiter: Waiter) {
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

    /// What is to be appended.
    pub(super) fn deltas(&self) -> &[Delta] {
        &self.deltas
    }

    /// Tells all that wait. Some may not wait any more.
    pub(super) fn settle(self, outcome: &Result<(), CountError>) {
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
        assert_eq!(batch.waiting(), changes.len());
        batch.deltas().iter().map(|it| (it.counter.to_string(), it.change)).collect()
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
