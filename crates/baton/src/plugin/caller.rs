//! Calls into one plugin or service: timed, isolated, and followed by a pause when they fail. This
//! is all that supervising the one has in common with supervising the other.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Event;
use baton_core::ids::Epoch;
use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};
use tokio::runtime::Handle;

use super::PluginError;
use super::blame::blame;
use super::isolate::{Bounds, CallFailure, isolated, until};
use super::restart::{Blame, RestartPolicy, Restarts};
use super::stats::{PluginStats, Run, in_ms};
use crate::observe::PluginRun;
use crate::shared::Shared;
use crate::term::Lifetime;

/// What a plugin and a service have in common, once they are registered.
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) restart: RestartPolicy,
    pub(crate) stats: PluginStats,
}

/// How supervising a plugin or a service ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Supervised {
    /// With its life, or because there was nothing left to do.
    Ended,
    /// It failed too often.
    GaveUp,
}

/// What is called for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Start,
    Work,
}

/// Calls one plugin or service for as long as it may run.
pub(crate) struct Caller<'a> {
    pub(crate) node: &'a Arc<Shared>,
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
        let logs = self.node.events.logs.clone();
        let run = PluginRun {
            namespace: self.node.namespace.clone(),
            node: self.node.id.clone(),
            epoch: self.epoch,
            plugin: self.registered.name.clone(),
            call: match purpose {
                Purpose::Start => "start",
                Purpose::Work => "work",
            },
        };
        let outcome = self.isolated(timeout, async move { logs.plugin_run(run, call).await }).await;
        let took_ms = in_ms(SystemClock.now().since(began));
        (Run { at_ms, took_ms, error: None }, outcome)
    }

    /// Makes a call that is neither timed nor logged.
    pub(crate) async fn isolated(
        &self,
        timeout: Option<Duration>,
        call: impl Future<Output = Result<(), PluginError>> + Send + 'static,
    ) -> Result<(), CallFailure> {
        let bounds = Bounds { life: self.life, runtime: self.runtime.clone(), timeout };
        let (events, plugin) = (self.node.events.clone(), self.registered.name.clone());
        let stuck = move || events.send(Event::PluginIgnoredCancellation { plugin });
        isolated(bounds, call, stuck).await
    }

    /// Reports a failure and waits before the next start; false if there is to be none.
    pub(crate) async fn pause_after(
        &self,
        run: Run,
        failure: &CallFailure,
        purpose: Purpose,
        restarts: &mut Restarts,
    ) -> bool {
        let blame = tokio::select! {
            biased;
            _ = self.life.ended() => Blame::Store,
            blame = blame(self.node) => blame,
        };
        let now = SystemClock.now();
        let wait = restarts.failed(now, blame);
        let again_at_ms = wait.map(|wait| SystemClock.wall_ms() + whole_ms(wait));
        let run = Run { error: Some(failure.to_string()), ..run };
        self.registered.stats.failed(run, purpose == Purpose::Work, again_at_ms);
        self.report_failed(failure, wait.map(whole_ms));
        let Some(wait) = wait else { return false };
        tokio::select! {
            biased;
            _ = self.life.ended() => {}
            () = until(now + wait) => {}
        }
        true
    }

    pub(crate) fn report_failed(&self, failure: &CallFailure, restart_in_ms: Option<u64>) {
        let (plugin, error) = (self.registered.name.clone(), failure.to_string());
        self.node.events.send(Event::PluginFailed { plugin, error, restart_in_ms });
    }
}
