//! Counters, all of a namespace in one object: `counters.json`, with the rules of the memory store.
//!
//! ```text
//!   append ───────┐
//!   consolidate ──┼─► read, apply the rule, PUT if it is still so
//!   collect ──────┘   the last two also: no later epoch is in state.json, nor in here
//! ```
//!
//! Exact, as every change is one conditional write of the one object that holds the values, what is
//! pending, and the writers' numbers. It is not the object of the lease, so that no append delays a
//! renewal. A consolidation that is overtaken by a takeover between its two objects counts as one
//! that came before it.
//!
//! How long a writer was silent, the leader that looks measures by its own clock: no two machines' clocks
//! are compared, and a new leader begins to watch anew.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::Counters;
use baton_store::{CounterAnswer, CounterCall, StoreError};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::cache::NamespaceCache;
use super::context::{CallContext, stamp};
use super::json_object::{CacheSlot, JsonObject};
use super::layout::Keys;
use super::state::State;

/// The content of the object.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredCounters {
    /// The highest epoch that consolidated or collected.
    fence: Epoch,
    counters: Counters,
}

impl JsonObject for StoredCounters {
    /// Every append writes all of it.
    const BYTES_MAX: usize = 4 * 1024 * 1024;
    const REMEDY: &'static str =
        "have a leader consolidate what is pending, or count under fewer names";

    fn key(keys: &Keys) -> &Path {
        &keys.counters
    }

    fn slot(cache: &NamespaceCache) -> &CacheSlot<Self> {
        &cache.counters
    }

    fn empty() -> Self {
        Self::default()
    }
}

/// The last number of each writer, and since when it is known to be the last.
pub(super) type WatchedWriters = BTreeMap<BootId, (u64, Moment)>;

/// Remembers the last numbers, and returns the writers that were silent for this long.
fn watch(
    watched: &mut WatchedWriters,
    now: Moment,
    seen: &Counters,
    silent_for: Duration,
) -> Vec<BootId> {
    let known = std::mem::take(watched);
    let since = |(writer, last): (BootId, u64)| match known.get(&writer) {
        Some((then, since)) if *then == last => (writer, (last, *since)),
        _ => (writer, (last, now)),
    };
    watched.extend(seen.writers().map(since));
    let silent = watched.iter().filter(|(_, (_, since))| now.since(*since) >= silent_for);
    silent.map(|(writer, _)| *writer).collect()
}

impl CallContext<'_> {
    /// Counts.
    pub(super) async fn count(&self, call: CounterCall) -> Result<CounterAnswer, StoreError> {
        match call {
            CounterCall::Append { writer, number, .. } => {
                self.admit(true).await?;
                self.change(|stored: &mut StoredCounters, at| {
                    let is_new = number > stored.counters.last_number(writer);
                    (stored.counters.perform(at.now, call.clone()), is_new)
                })
                .await
            }
            CounterCall::Consolidate { fence, .. } => {
                self.fenced(fence, |stored| {
                    let answer = stored.counters.perform(stamp().now, call.clone());
                    let nothing = CounterAnswer::Consolidated { applied: 0, more: false };
                    let changed = answer != nothing;
                    (answer, changed)
                })
                .await
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                self.fenced(fence, |stored| {
                    let mut watched = self.cache.watched.lock().expect("no holder panics");
                    let now = SystemClock.now();
                    let mut silent = watch(&mut watched, now, &stored.counters, silent_for);
                    silent.truncate(limit as usize);
                    for writer in &silent {
                        stored.counters.forget(*writer);
                    }
                    let gone = u32::try_from(silent.len()).expect("it is at most the limit");
                    (CounterAnswer::Collected(gone), gone > 0)
                })
                .await
            }
            CounterCall::Read { counters } => {
                self.look(|stored: &StoredCounters| stored.counters.read(counters)).await
            }
            CounterCall::List { prefix, after, limit } => {
                let list = |it: &StoredCounters| it.counters.list(&prefix, after.as_ref(), limit);
                self.look(list).await
            }
        }
    }

    /// Applies a rule, unless a later epoch is known.
    async fn fenced(
        &self,
        fence: Epoch,
        rule: impl Fn(&mut StoredCounters) -> (CounterAnswer, bool),
    ) -> Result<CounterAnswer, StoreError> {
        self.admit(true).await?;
        let noted = self.change(|state: &mut State, _| match state.space.is_fenced_off(fence) {
            true => (false, false),
            false => (true, state.space.raise_fence(fence)),
        });
        if !noted.await? {
            return Ok(CounterAnswer::Fenced);
        }
        self.change(|stored: &mut StoredCounters, _| {
            if fence < stored.fence {
                return (CounterAnswer::Fenced, false);
            }
            let (answer, changed) = rule(stored);
            let is_new = fence > stored.fence;
            stored.fence = fence;
            (answer, changed || is_new)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_store::{Change, CounterName, Delta};

    fn append(counters: &mut Counters, writer: u128, number: u64) {
        let counter = CounterName::new("hits").expect("a good name");
        let deltas = vec![Delta { counter, change: Change::Add(1) }];
        let append = CounterCall::Append { writer: BootId(writer), number, deltas };
        // A writer's own idea of the time says nothing.
        counters.perform(Moment::from_micros(u64::from(number == 1)), append);
    }

    #[test]
    fn silence_is_counted_from_when_it_was_first_seen() {
        let second = Duration::from_secs(1);
        let start = Moment::from_micros(1_000_000_000);
        let (mut watched, mut counters) = (WatchedWriters::new(), Counters::default());
        append(&mut counters, 1, 1);
        append(&mut counters, 2, 1);
        assert_eq!(watch(&mut watched, start, &counters, second), []);
        append(&mut counters, 2, 2);
        append(&mut counters, 3, 1);
        assert_eq!(watch(&mut watched, start + second, &counters, second), [BootId(1)]);
        counters.forget(BootId(1));
        let later = start + second * 2;
        assert_eq!(watch(&mut watched, later, &counters, second), [BootId(2), BootId(3)]);
        assert_eq!(watched.len(), 2, "who is forgotten is not watched");
    }
}
