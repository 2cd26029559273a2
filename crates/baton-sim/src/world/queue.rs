//! The queue of things to come, in order of true time, then of scheduling.

use std::collections::BTreeMap;

use crate::clock::TrueTime;

/// Things to come, by when they are due and by their number among all that was scheduled.
pub struct Queue<T> {
    due: BTreeMap<(TrueTime, u64), T>,
    scheduled: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), scheduled: 0 }
    }
}

impl<T> Queue<T> {
    /// Schedules something.
    pub fn push(&mut self, at: TrueTime, what: T) {
        self.scheduled += 1;
        self.due.insert((at, self.scheduled), what);
    }

    /// The next thing, if there is one.
    pub fn pop(&mut self) -> Option<(TrueTime, T)> {
        self.due.pop_first().map(|((at, _), what)| (at, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_in_order_of_time_then_of_scheduling() {
        let mut queue = Queue::default();
        let at = TrueTime::from_micros;
        queue.push(at(5), 'c');
        queue.push(at(1), 'a');
        queue.push(at(5), 'd');
        queue.push(at(2), 'b');
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, what)| what)).collect();
        assert_eq!(order, "abcd");
    }
}
