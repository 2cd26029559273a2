//! The queue of things to come, in order of true time, then of scheduling.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::clock::True;

/// Something due at a time.
struct Entry<T> {
    at: True,
    number: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Things to come.
pub struct Queue<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    scheduled: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0 }
    }
}

impl<T> Queue<T> {
    /// Schedules something.
    pub fn push(&mut self, at: True, what: T) {
        self.scheduled += 1;
        self.heap.push(Reverse(Entry { at, number: self.scheduled, what }));
    }

    /// The next thing, if there is one.
    pub fn pop(&mut self) -> Option<(True, T)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_in_order_of_time_then_of_scheduling() {
        let mut queue = Queue::default();
        let at = True::from_micros;
        queue.push(at(5), 'c');
        queue.push(at(1), 'a');
        queue.push(at(5), 'd');
        queue.push(at(2), 'b');
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, what)| what)).collect();
        assert_eq!(order, "abcd");
    }
}
