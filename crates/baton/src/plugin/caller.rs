//! Calls into one plugin or service: timed, isolated, and followed by a pause when they fail, and
//! whether a failure is blamed on the plugin or on the store. This is all that supervising a plugin
//! has in common with supervising a service.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Event;
use baton_core::ids::Epoch;
use baton_core::protocol::Failure;
use baton_core::time::whole_ms;
use baton_store::Call;
use baton_store::clock::{Clock, SystemClock};
use tokio::runtime::Handle;

use super::PluginError;
use super::isolate::{CallFailure, isolated, until};
use super::report_document::DOCUMENT;
use super::restart::{Blame, RestartPolicy, Restarts};
use super::stats::{PluginStats, Run};
use crate::drive::call_store;
use crate::shared::Shared;
use crate::term::Lifetime;

/// What a plugin and a service have in common, once they are registered.
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) restart: RestartPolicy,
    pub(crate) stats: PluginStats,
}

/// A plugin or a service failed too often to be started again.
pub(crate) struct GaveUp;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Start,
    Work,
}

/// Calls one plugin or service for as long as it may run.
pub(crate) struct Caller<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) registered: &'a Registered,
    pub(crate) life: &'a Lifetime,
    pub(crate) runtime: Handle,
    /// The term, for a plugin.
    pub(crate) epoch: Option<Epoch>,
}

impl Caller<'_> {
    /// Makes one call, and returns how it went.
    pub(crate) async fn call(
        &self,
        purpose: Purpose,
        timeout: Option<Duration>,
        call: impl Future<Output = Result<(), PluginError>> + Send + 'static,
    ) -> (Run, Result<(), CallFailure>) {
        let (at_ms, began) = (SystemClock.wall_ms(), SystemClock.now());
        let logs = self.shared.events.logs.clone();
        let (namespace, node) = (self.shared.namespace.clone(), self.shared.id.clone());
        let (epoch, plugin) = (self.epoch.map(|it| it.0), self.registered.name.clone());
        let span = move || {
            let call = if purpose == Purpose::Start { "start" } else { "work" };
            tracing::info_span!(
                target: "baton::plugin", "plugin_run", %namespace, %node, epoch, plugin, call,
            )
        };
        let outcome = self.isolated(timeout, async move { logs.within(span, call).await }).await;
        let took_ms = SystemClock.now().since(began).as_secs_f64() * 1e3;
        (Run { at_ms, took_ms, error: None }, outcome)
    }

    /// Makes a call that is neither timed nor logged.
    pub(crate) async fn isolated(
        &self,
        timeout: Option<Duration>,
        call: impl Future<Output = Result<(), PluginError>> + Send + 'static,
    ) -> Result<(), CallFailure> {
        let (events, plugin) = (self.shared.events.clone(), self.registered.name.clone());
        let stuck = move || events.send(Event::PluginIgnoredCancellation { plugin });
        isolated((self.life, &self.runtime), timeout, call, stuck).await
    }

    /// Reports a failure and waits before the next start, if there is to be one.
    pub(crate) async fn pause_after(
        &self,
        run: Run,
        failure: &CallFailure,
        purpose: Purpose,
        restarts: &mut Restarts,
    ) -> Result<(), GaveUp> {
        let blame = tokio::select! {
            biased;
            _ = self.life.ended() => Blame::Store,
            blame = blame(self.shared) => blame,
        };
        let now = SystemClock.now();
        let wait = restarts.failed(now, blame);
        let again_at_ms = wait.map(|wait| SystemClock.wall_ms() + whole_ms(wait));
        let run = Run { error: Some(failure.to_string()), ..run };
        self.registered.stats.failed(run, purpose == Purpose::Work, again_at_ms);
        self.report_failed(failure, wait.map(whole_ms));
        let wait = wait.ok_or(GaveUp)?;
        tokio::select! {
            biased;
            _ = self.life.ended() => {}
            () = until(now + wait) => {}
        }
        Ok(())
    }

    pub(crate) fn report_failed(&self, failure: &CallFailure, restart_in_ms: Option<u64>) {
        let (plugin, error) = (self.registered.name.clone(), failure.to_string());
        self.shared.events.send(Event::PluginFailed { plugin, error, restart_in_ms });
    }
}

/// Whose fault a failure is that happened just now: the plugin's own, or an outage of the store
/// that it may use too. A beat comes every few seconds, so a plugin that fails often notices an
/// outage before the beat does: that is why the store is asked. Takes a request to the store, and
/// `request_timeout` at most.
async fn blame(shared: &Shared) -> Blame {
    // A single instance has no store.
    if !shared.settings.enabled {
        return Blame::Plugin;
    }
    if shared.snapshot().breaker.failure_count > 0 {
        return Blame::Store;
    }
    let question = Call::ReadDocuments { names: vec![DOCUMENT.to_owned()] };
    match call_store(shared, question, shared.settings.request_timeout).await {
        Some(Ok(_)) => Blame::Plugin,
        // The store was reached, though it refuses.
        Some(Err(error)) if error.failure() == Failure::Rejected => Blame::Plugin,
        Some(Err(_)) | None => Blame::Store,
    }
}
