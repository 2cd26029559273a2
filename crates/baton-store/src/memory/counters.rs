//! The rules of counters: what was appended waits in order, until it is applied once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use baton_core::ids::BootId;
use baton_core::time::Moment;
use serde::{Deserialize, Serialize};

use crate::counters::{CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading};

#[derive(Clone, Copy, Debug, Hash, Serialize, Deserialize)]
struct Writer {
    last: u64,
    appended_at: Moment,
}

/// The counters of one namespace.
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct Counters {
    consolidated: BTreeMap<CounterName, CounterValue>,
    pending: VecDeque<Delta>,
    writers: BTreeMap<BootId, Writer>,
}

impl Counters {
    /// One step. Whether the caller's term is over was checked before.
    pub fn perform(&mut self, now: Moment, call: CounterCall) -> CounterAnswer {
        match call {
            CounterCall::Append { writer, number, deltas } => {
                self.append(now, writer, number, deltas);
                CounterAnswer::Appended
            }
            CounterCall::Consolidate { limit, .. } => self.consolidate(limit),
            CounterCall::Collect { silent_for, limit, .. } => {
                CounterAnswer::Collected(self.forget_writers(now, silent_for, limit))
            }
            CounterCall::Read { counters } => self.read(counters),
            CounterCall::List { prefix, after, limit } => self.list(&prefix, after.as_ref(), limit),
        }
    }

    /// These counters, each once. What was never counted is left out.
    pub fn read(&self, mut counters: Vec<CounterName>) -> CounterAnswer {
        let current = self.current();
        counters.sort_unstable();
        counters.dedup();
        let known = counters.into_iter().filter(|name| current.contains_key(name));
        let readings = known.map(|name| self.reading(&name, current[&name]));
        CounterAnswer::Readings(readings.collect())
    }

    /// The counters that begin with this and come after that, in order.
    pub fn list(&self, prefix: &str, after: Option<&CounterName>, limit: u32) -> CounterAnswer {
        let current = self.current();
        let comes = |name: &&CounterName| {
            name.as_str().starts_with(prefix) && after.is_none_or(|after| *name > after)
        };
        let names = current.keys().filter(comes).take(limit as usize);
        let readings = names.map(|name| self.reading(name, current[name]));
        CounterAnswer::Readings(readings.collect())
    }

    /// Every writer, and the number of its last append.
    pub fn writers(&self) -> impl Iterator<Item = (BootId, u64)> + '_ {
        self.writers.iter().map(|(id, writer)| (*id, writer.last))
    }

    /// The number of this writer's last append, 0 before the first.
    pub fn last_number(&self, writer: BootId) -> u64 {
        self.writers.get(&writer).map_or(0, |known| known.last)
    }

    /// Forgets a writer's last number.
    pub fn forget(&mut self, writer: BootId) {
        self.writers.remove(&writer);
    }

    fn append(&mut self, now: Moment, writer: BootId, number: u64, deltas: Vec<Delta>) {
        if number > self.last_number(writer) {
            self.writers.insert(writer, Writer { last: number, appended_at: now });
            self.pending.extend(deltas);
        }
    }

    fn consolidate(&mut self, limit: u32) -> CounterAnswer {
        let due = self.pending.len().min(limit as usize);
        for delta in self.pending.drain(..due) {
            let value = self.consolidated.entry(delta.counter).or_default();
            *value = value.after(delta.change);
        }
        let applied = u32::try_from(due).expect("it is at most the limit");
        CounterAnswer::Consolidated { applied, more: !self.pending.is_empty() }
    }

    fn forget_writers(&mut self, now: Moment, silent_for: Duration, limit: u32) -> u32 {
        let silent = |writer: &Writer| now.since(writer.appended_at) >= silent_for;
        let found = self.writers.iter().filter(|(_, writer)| silent(writer));
        let found: Vec<BootId> = found.map(|(id, _)| *id).take(limit as usize).collect();
        for id in &found {
            self.forget(*id);
        }
        u32::try_from(found.len()).expect("it is at most the limit")
    }

    /// Every counter, with what is pending.
    fn current(&self) -> BTreeMap<CounterName, CounterValue> {
        let mut current = self.consolidated.clone();
        for delta in &self.pending {
            let value = current.entry(delta.counter.clone()).or_default();
            *value = value.after(delta.change);
        }
        current
    }

    fn reading(&self, counter: &CounterName, current: CounterValue) -> Reading {
        let consolidated = self.consolidated.get(counter).copied().unwrap_or_default();
        Reading { counter: counter.clone(), consolidated, current }
    }
}
