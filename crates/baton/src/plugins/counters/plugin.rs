//! The leader's side: consolidates every minute, or when asked, by way of two documents.
//!
//! ```text
//!   a caller ── writes baton:counters:wanted, which counts its writes ──► leader looks at it
//!   a caller ◄── baton:counters:done, the number that was served, fenced ──┘ every second
//! ```

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Capability, CounterAnswer, CounterCall, Document, Precondition, Store, StoreError, WriteOutcome,
};

use super::handle::{CountError, DEADLINE_MAX};
use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError, RestartPolicy};

const WANTED: &str = "baton:counters:wanted";
const DONE: &str = "baton:counters:done";

const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// How the leader consolidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginConfig {
    /// From one consolidation to the next.
    pub every: Duration,
    /// How often the leader looks whether one was asked for: one read of a document.
    pub look_every: Duration,
    /// The largest number of changes in one step, so that no step takes long.
    pub step_max: u32,
    /// How long a silent writer is remembered. Raised to twice the ten minutes that an append may
    /// be repeated for, if it is less.
    pub keep_writers: Duration,
}

impl Default for PluginConfig {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(60),
            look_every: Duration::from_secs(1),
            step_max: 1_000,
            keep_writers: Duration::from_secs(3_600),
        }
    }
}

impl PluginConfig {
    /// The same, within bounds that keep every promise.
    pub(super) fn bounded(self) -> Self {
        Self {
            step_max: self.step_max.max(1),
            keep_writers: self.keep_writers.max(2 * DEADLINE_MAX),
            ..self
        }
    }
}

#[derive(Default, Debug)]
struct State {
    consolidated_at: Option<Moment>,
    /// The newest request that was served, in any term. Not known before the first look.
    served: Option<u64>,
}

/// Consolidates counters while this node leads. On a store without counters it does nothing.
///
/// Costs the leader one read of a document every second, and, every minute, a step for
/// each thousand changes that are pending and one that forgets silent writers. Never costs
/// leadership: what fails is tried again for as long as the term lasts.
#[derive(Debug, Default)]
pub struct CountersPlugin {
    config: PluginConfig,
    state: Mutex<State>,
}

impl CountersPlugin {
    /// With these settings, each within its bounds.
    pub fn new(config: PluginConfig) -> Self {
        Self { config: config.bounded(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Applies everything that is pending, step by step. Says whether it came to the end.
    async fn consolidate(&self, term: &Leadership) -> Result<bool, StoreError> {
        let call = CounterCall::Consolidate { fence: term.epoch(), limit: self.config.step_max };
        while term.may_start_work() {
            match ask(term, call.clone()).await? {
                CounterAnswer::Consolidated { more: true, .. } => {}
                CounterAnswer::Consolidated { more: false, .. } => return Ok(true),
                // A later epoch is known: this term is over, whatever it believes.
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    async fn forget_writers(&self, term: &Leadership) -> Result<(), StoreError> {
        let (fence, silent_for) = (term.epoch(), self.config.keep_writers);
        let limit = self.config.step_max;
        while term.may_start_work() {
            let answer = ask(term, CounterCall::Collect { fence, silent_for, limit }).await?;
            if !matches!(answer, CounterAnswer::Collected(count) if count == limit) {
                return Ok(());
            }
        }
        Ok(())
    }
}

async fn ask(term: &Leadership, call: CounterCall) -> Result<CounterAnswer, StoreError> {
    term.shared.store.counters(&term.shared.namespace, call).await
}

#[async_trait]
impl Plugin for CountersPlugin {
    fn name(&self) -> &'static str {
        "counters"
    }

    fn work_interval(&self) -> Duration {
        self.config.look_every
    }

    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy { limit: u32::MAX, ..RestartPolicy::default() }
    }

    async fn on_become_coordinator(&self, _term: &Leadership) -> Result<(), PluginError> {
        // The last leader may have died just before it was to consolidate.
        *self.state() = State::default();
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        if !term.shared.store.declaration().has(Capability::Counters) {
            return Ok(());
        }
        let known = self.state().served;
        let served = match known {
            Some(served) => served,
            None => number(term.read_document(DONE).await?.as_ref()),
        };
        self.state().served = Some(served);
        let wanted = wanted(term, served).await?;
        let last = self.state().consolidated_at;
        let is_due = last.is_none_or(|at| SystemClock.now().since(at) >= self.config.every);
        if wanted.is_none() && !is_due {
            return Ok(());
        }
        if !self.consolidate(term).await? {
            return Ok(());
        }
        self.state().consolidated_at = Some(SystemClock.now());
        if let Some(wanted) = wanted {
            let body = wanted.to_string().into_bytes();
            term.write_document(DONE, body, Precondition::Any).await?;
            self.state().served = Some(wanted);
        }
        self.forget_writers(term).await?;
        Ok(())
    }
}

/// Asks for a consolidation, and waits for the answer.
pub(super) async fn consolidated(
    store: &dyn Store,
    namespace: &Namespace,
    patience: Duration,
) -> Result<bool, CountError> {
    let gives_up_at = SystemClock.now() + patience;
    let write = store.write_document(namespace, WANTED, Vec::new(), Precondition::Any, None);
    let WriteOutcome::Written(wanted) = write.await? else { return Ok(false) };
    loop {
        let done = store.read_document(namespace, DONE).await?;
        if number(done.as_ref()) >= wanted {
            return Ok(true);
        }
        if SystemClock.now() >= gives_up_at {
            return Ok(false);
        }
        SystemClock.sleep(LOOK_AGAIN_AFTER).await;
    }
}

/// The newest request, if it is newer than the one served last.
async fn wanted(term: &Leadership, served: u64) -> Result<Option<u64>, StoreError> {
    let found = term.read_document(WANTED).await?;
    let wanted = found.map_or(0, |document| document.version);
    Ok((wanted > served).then_some(wanted))
}

/// The newest request that was served, in any term.
fn number(document: Option<&Document>) -> u64 {
    let text = document.and_then(|document| std::str::from_utf8(&document.body).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::handle::CountersConfig;
    use super::*;

    #[test]
    fn no_setting_lets_a_number_be_forgotten_while_it_may_be_repeated() {
        let hour = Duration::from_secs(3_600);
        let writer = CountersConfig { deadline: hour, append_max: 9_000, ..Default::default() };
        let plugin =
            PluginConfig { keep_writers: Duration::ZERO, step_max: 0, ..Default::default() };
        let (writer, plugin) = (writer.bounded(), plugin.bounded());
        assert!(plugin.keep_writers > writer.deadline);
        assert_eq!((writer.append_max, plugin.step_max), (1_000, 1));
    }
}
