//! The rules of counters: what was appended waits in order, until it is applied once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::time::Moment;

use crate::counters::{CounterAnswer, CounterCall, CounterName, Delta, Reading, Tally};

#[derive(Clone, Copy, Debug, Hash)]
struct Writer {
    last: u64,
    appended_at: Moment,
}

/// The counters of one namespace.
#[derive(Clone, Debug, Default, Hash)]
pub struct Counters {
    consolidated: BTreeMap<CounterName, Tally>,
    pending: VecDeque<Delta>,
    writers: BTreeMap<BootId, Writer>,
}

impl Counters {
    /// One step. Whether the caller's term is over was checked before.
    pub(super) fn perform(&mut self, now: Moment, call: CounterCall) -> CounterAnswer {
        match call {
            CounterCall::Append { writer, number, deltas } => {
                self.append(now, writer, number, deltas);
                CounterAnswer::Appended
            }
            CounterCall::Consolidate { limit, .. } => self.consolidate(limit),
            CounterCall::Collect { silent_for, limit, .. } => {
                CounterAnswer::Collected(self.forget_writers(now, silent_for, limit))
            }
            CounterCall::Read { counters } => {
                let current = self.current();
                let mut wanted = counters;
                wanted.sort_unstable();
                wanted.dedup();
                let known = wanted.into_iter().filter(|name| current.contains_key(name));
                let readings = known.map(|name| self.reading(&name, current[&name]));
                CounterAnswer::Readings(readings.collect())
            }
            CounterCall::List { prefix, after, limit } => {
                let current = self.current();
                let comes = |name: &&CounterName| {
                    name.as_str().starts_with(&prefix) && after.as_ref().is_none_or(|it| *name > it)
                };
                let names = current.keys().filter(comes).take(limit as usize);
                let readings = names.map(|name| self.reading(name, current[name]));
                CounterAnswer::Readings(readings.collect())
            }
        }
    }

    fn append(&mut self, now: Moment, writer: BootId, number: u64, deltas: Vec<Delta>) {
        let known = self.writers.get(&writer).map_or(0, |known| known.last);
        if number > known {
            self.writers.insert(writer, Writer { last: number, appended_at: now });
            self.pending.extend(deltas);
        }
    }

    fn consolidate(&mut self, limit: u32) -> CounterAnswer {
        let due = self.pending.len().min(limit as usize);
        for delta in self.pending.drain(..due) {
            let tally = self.consolidated.entry(delta.counter).or_default();
            *tally = tally.after(delta.change);
        }
        let applied = u32::try_from(due).expect("it is at most the limit");
        CounterAnswer::Consolidated { applied, more: !self.pending.is_empty() }
    }

    fn forget_writers(&mut self, now: Moment, silent_for: Duration, limit: u32) -> u32 {
        let silent = |writer: &Writer| now.since(writer.appended_at) >= silent_for;
        let found = self.writers.iter().filter(|(_, writer)| silent(writer));
        let found: Vec<BootId> = found.map(|(id, _)| *id).take(limit as usize).collect();
        for id in &found {
            self.writers.remove(id);
        }
        u32::try_from(found.len()).expect("it is at most the limit")
    }

    /// Every counter, with what is pending.
    fn current(&self) -> BTreeMap<CounterName, Tally> {
        let mut current = self.consolidated.clone();
        for delta in &self.pending {
            let tally = current.entry(delta.counter.clone()).or_default();
            *tally = tally.after(delta.change);
        }
        current
    }

    fn reading(&self, counter: &CounterName, current: Tally) -> Reading {
        let consolidated = self.consolidated.get(counter).copied().unwrap_or_default();
        Reading { counter: counter.clone(), consolidated, current }
    }
}
