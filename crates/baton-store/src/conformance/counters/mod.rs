//! Counters: what is appended counts once, whatever is repeated, raced or fenced.
//!
//! ```text
//!   appends        one change after another, repeats, names, overflow
//!   consolidation  fences, limits, races, forgetting
//! ```

mod appends;
mod consolidation;

use baton_core::ids::{BootId, Epoch, Namespace};

use super::case::{Case, CaseError, Check, Requirement, same};
use super::stage::Stage;
use crate::capability::Capability;
use crate::counters::{
    Change, CounterAnswer, CounterCall, CounterName, CounterValue, Delta, Reading,
};
use crate::election::Store;
use crate::error::StoreError;

/// What every case of this theme needs.
const DECLARED: Requirement = Requirement::Capability(Capability::Counters);

/// The cases of the whole theme.
pub(super) fn cases() -> Vec<Case> {
    appends::cases().into_iter().chain(consolidation::cases()).collect()
}

/// What is not declared is refused.
async fn refused(stage: &Stage<'_>) -> Check {
    let store = stage.subject.open().await;
    let unsupported = Some(StoreError::Unsupported(Capability::Counters));
    let append = append(1, 1, &[("hits", Change::Add(1))]);
    let found = store.counters(&stage.namespace, append).await.err();
    same("an append", found, unsupported.clone())?;
    let found = store.counters(&stage.namespace, list("", None, 9)).await.err();
    same("a list", found, unsupported)
}

fn name(text: &str) -> CounterName {
    CounterName::new(text).expect("the suite names its counters well")
}

fn append(writer: u128, number: u64, changes: &[(&str, Change)]) -> CounterCall {
    let delta =
        |(counter, change): &(&str, Change)| Delta { counter: name(counter), change: *change };
    // All 128 bits matter: a store that keeps fewer mistakes one writer for another.
    let writer = BootId(writer << 112 | writer);
    CounterCall::Append { writer, number, deltas: changes.iter().map(delta).collect() }
}

fn list(prefix: &str, after: Option<&str>, limit: u32) -> CounterCall {
    CounterCall::List { prefix: prefix.to_owned(), after: after.map(name), limit }
}

/// The counters of the case, by a handle of its own for each step.
struct CounterClient<'a> {
    stage: &'a Stage<'a>,
    namespace: Namespace,
    writer: u128,
    number: u64,
}

impl<'a> CounterClient<'a> {
    fn new(stage: &'a Stage<'a>) -> Self {
        Self { stage, namespace: stage.namespace.clone(), writer: 1, number: 0 }
    }

    async fn ask(&self, call: CounterCall) -> Result<CounterAnswer, CaseError> {
        let store = self.stage.subject.open().await;
        Ok(store.counters(&self.namespace, call).await?)
    }

    /// Appends with the next number.
    async fn append(&mut self, changes: &[(&str, Change)]) -> Check {
        self.number += 1;
        self.repeat(changes).await
    }

    /// Appends with the number of the last append.
    async fn repeat(&self, changes: &[(&str, Change)]) -> Check {
        let answer = self.ask(append(self.writer, self.number, changes)).await?;
        same("an append", answer, CounterAnswer::Appended)
    }

    /// Consolidates everything in one step, and must apply this number of changes.
    async fn consolidate(&self, fence: Epoch, wanted: u32) -> Check {
        let answer = self.ask(CounterCall::Consolidate { fence, limit: 1_000 }).await?;
        let wanted = CounterAnswer::Consolidated { applied: wanted, more: false };
        same("a consolidation", answer, wanted)
    }

    async fn readings(&self, call: CounterCall) -> Result<Vec<Reading>, CaseError> {
        match self.ask(call).await? {
            CounterAnswer::Readings(readings) => Ok(readings),
            other => Err(CaseError::Wrong(format!("a reading: found {other:?}"))),
        }
    }

    async fn reading(&self, counter: &str) -> Result<Option<Reading>, CaseError> {
        let call = CounterCall::Read { counters: vec![name(counter)] };
        Ok(self.readings(call).await?.into_iter().next())
    }

    /// The counter must stand at these two values, which fit.
    async fn stands(&self, counter: &str, consolidated: i64, current: i64) -> Check {
        let wanted = reading(counter, consolidated, current);
        same("the counter", self.reading(counter).await?, Some(wanted))
    }
}

fn reading(counter: &str, consolidated: i64, current: i64) -> Reading {
    let at = |value| CounterValue { value, overflowed: false };
    Reading { counter: name(counter), consolidated: at(consolidated), current: at(current) }
}

/// One step by a handle that is at hand already.
async fn step(
    store: &dyn Store,
    namespace: &Namespace,
    call: CounterCall,
) -> Result<CounterAnswer, CaseError> {
    Ok(store.counters(namespace, call).await?)
}
