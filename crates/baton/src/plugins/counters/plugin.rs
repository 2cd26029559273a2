//! The leader's side: consolidates every minute, or when asked.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Capability, CounterAnswer, CounterCall, StoreError};

use super::config::PluginConfig;
use super::request;
use crate::leadership::Leadership;
use crate::plugin::{Plugin, PluginError, RestartPolicy};

/// What is known from one look to the next.
#[derive(Clone, Copy, Default, Debug)]
struct State {
    consolidated_at: Option<Moment>,
    /// The newest request that was served, by whomever. Not known before the first look.
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

    fn state(&self) -> State {
        *self.state.lock().expect("no holder panics")
    }

    fn note(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("no holder panics"));
    }

    fn is_due(&self) -> bool {
        let last = self.state().consolidated_at;
        last.is_none_or(|at| SystemClock.now().since(at) >= self.config.every)
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
    term.store().counters(term.namespace(), call).await
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
        self.note(|state| *state = State::default());
        Ok(())
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        if !term.store().declaration().has(Capability::Counters) {
            return Ok(());
        }
        let served = match self.state().served {
            Some(served) => served,
            None => request::last_served(term).await?,
        };
        self.note(|state| state.served = Some(served));
        let wanted = request::look(term, served).await?;
        if wanted.is_none() && !self.is_due() {
            return Ok(());
        }
        if !self.consolidate(term).await? {
            return Ok(());
        }
        self.note(|state| state.consolidated_at = Some(SystemClock.now()));
        if let Some(wanted) = wanted {
            request::answer(term, wanted).await?;
            self.note(|state| state.served = Some(wanted));
        }
        self.forget_writers(term).await?;
        Ok(())
    }
}
