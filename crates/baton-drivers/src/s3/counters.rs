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

use baton_core::ids::Epoch;
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::Counters;
use baton_store::{CounterAnswer, CounterCall, StoreError};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::context::{CallContext, step_time};
use super::json_object::{CacheSlot, JsonObject, NamespaceCache};
use super::schema::Keys;
use super::state::State;

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
}

impl CallContext<'_> {
    pub(super) async fn count(&self, call: CounterCall) -> Result<CounterAnswer, StoreError> {
        match call {
            CounterCall::Append { writer, number, .. } => {
                self.change(|stored: &mut StoredCounters, at| {
                    let is_new = number > stored.counters.last_number(writer);
                    (stored.counters.perform(at.now, call.clone()), is_new)
                })
                .await
            }
            CounterCall::Consolidate { fence, .. } => {
                self.fenced(fence, |stored| {
                    let answer = stored.counters.perform(step_time().now, call.clone());
                    let nothing = CounterAnswer::Consolidated { applied: 0, more: false };
                    let changed = answer != nothing;
                    (answer, changed)
                })
                .await
            }
            CounterCall::Collect { fence, silent_for, limit } => {
                self.fenced(fence, |stored| {
                    let mut watched = self.cache.watched.lock().expect("no holder panics");
                    let writers = stored.counters.writers();
                    let mut silent = watched.look(SystemClock.now(), writers, silent_for);
                    silent.truncate(limit as usize);
                    for (writer, _) in &silent {
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
    use std::time::Duration;

    use baton_core::ids::BootId;
    use baton_core::time::Moment;
    use baton_store::{Change, CounterName, Delta};

    use super::*;
    use crate::driver::Unchanged;

    fn append(counters: &mut Counters, writer: u128, number: u64) {
        let counter = CounterName::new("hits").expect("a good name");
        let deltas = vec![Delta { counter, change: Change::Add(1) }];
        // When a writer says that it appended plays no part.
        let at = Moment::from_micros(u64::from(number == 1));
        counters.perform(at, CounterCall::Append { writer: BootId(writer), number, deltas });
    }

    #[test]
    fn writers_are_watched_by_their_numbers_until_they_are_forgotten() {
        let (start, second) = (Moment::from_micros(1_000_000_000), Duration::from_secs(1));
        let (mut watched, mut counters) = (Unchanged::default(), Counters::default());
        append(&mut counters, 1, 1);
        append(&mut counters, 2, 1);
        assert_eq!(watched.look(start, counters.writers(), second), []);
        append(&mut counters, 2, 2);
        let later = start + second;
        assert_eq!(watched.look(later, counters.writers(), second), [(BootId(1), 1)]);
        counters.forget(BootId(1));
        let later = later + second;
        assert_eq!(watched.look(later, counters.writers(), second), [(BootId(2), 2)]);
    }
}
