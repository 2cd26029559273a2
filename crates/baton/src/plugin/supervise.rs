//! Supervises the plugins for one term: starts them in order, keeps each working, stops them all,
//! and reports the proof. It runs on the node's own thread, so that no plugin can starve it.

use std::sync::Arc;

use baton_core::time::whole_ms;
use baton_core::{Event, Input};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::caller::{Caller, GaveUp, Purpose};
use super::isolate::CallFailure;
use super::plugin_set::RegisteredPlugin;
use super::report_document::publish_reports;
use super::restart::Restarts;
use super::stats::Run;
use crate::drive::Message;
use crate::leadership::Leadership;
use crate::shared::Shared;
use crate::term::{Ending, Term};

#[derive(Clone)]
pub(crate) struct Supervisor {
    pub(crate) shared: Arc<Shared>,
    pub(crate) term: Arc<Term>,
}

impl Supervisor {
    /// From the start of the term to the proof that nothing of it runs, which is what it returns.
    pub(crate) async fn run(self) -> Message {
        let mut begun = Vec::new();
        let mut working = JoinSet::new();
        let ending = tokio::select! {
            biased;
            ending = self.supervise(&mut begun, &mut working) => ending,
            () = publish_reports(&self.shared, &self.term) => unreachable!("it goes on"),
        };
        while working.join_next().await.is_some() {}
        for plugin in begun.into_iter().rev() {
            self.stop(&plugin, ending).await;
        }
        let plugins = &self.shared.plugins;
        tokio::select! {
            biased;
            () = self.term.let_go() => {}
            _ = plugins.services_life.ended() => {
                // The node leaves: what holds the term may be a plugin.
                plugins.discard();
                self.term.let_go().await;
            }
        }
        let input = Input::TermStopped { epoch: self.term.epoch };
        Message::Input { task: self.shared.task_id, input }
    }

    async fn supervise(
        &self,
        begun: &mut Vec<Arc<RegisteredPlugin>>,
        working: &mut JoinSet<Result<(), GaveUp>>,
    ) -> Ending {
        let epoch = self.term.epoch;
        let mut healthy = self.start_new(begun, working).await;
        if healthy {
            self.shared.report(Input::TermStarted { epoch }).await;
        }
        loop {
            if !healthy {
                self.shared.report(Input::TermFailed { epoch }).await;
                return self.term.ended().await;
            }
            tokio::select! {
                biased;
                ending = self.term.ended() => return ending,
                Some(ended) = working.join_next() => {
                    healthy = matches!(ended, Ok(Ok(())));
                }
                () = self.shared.plugins.more_than(begun.len()) => {
                    healthy = self.start_new(begun, working).await;
                }
            }
        }
    }

    /// Starts the plugins that have been registered since, in order. Returns whether all started.
    async fn start_new(
        &self,
        begun: &mut Vec<Arc<RegisteredPlugin>>,
        working: &mut JoinSet<Result<(), GaveUp>>,
    ) -> bool {
        for plugin in self.shared.plugins.from(begun.len()) {
            begun.push(plugin.clone());
            let mut restarts = Restarts::new(plugin.registered.restart);
            match self.start(&plugin, &mut restarts).await {
                Ok(()) if self.term.has_ended() => return true,
                Ok(()) => {}
                Err(GaveUp) => return false,
            }
            let this = self.clone();
            working.spawn(async move { this.keep_working(&plugin, restarts).await });
        }
        true
    }

    /// Starts a plugin, again and again if need be, until it is up, the term ends, or it has failed
    /// too often.
    async fn start(
        &self,
        plugin: &RegisteredPlugin,
        restarts: &mut Restarts,
    ) -> Result<(), GaveUp> {
        loop {
            plugin.registered.stats.starting();
            match self.call(plugin, Purpose::Start).await {
                None => return Ok(()),
                Some((_, Ok(()))) => {
                    plugin.registered.stats.started();
                    let (plugin, epoch) = (plugin.registered.name.clone(), self.term.epoch);
                    self.shared.events.send(Event::PluginPromoted { plugin, epoch });
                    return Ok(());
                }
                Some((run, Err(failure))) => {
                    let caller = self.caller(plugin);
                    caller.pause_after(run, &failure, Purpose::Start, restarts).await?;
                }
            }
        }
    }

    async fn keep_working(
        &self,
        plugin: &RegisteredPlugin,
        mut restarts: Restarts,
    ) -> Result<(), GaveUp> {
        let stats = &plugin.registered.stats;
        if !plugin.first_work_after.is_zero() {
            stats.put_off(SystemClock.wall_ms() + whole_ms(plugin.first_work_after));
            tokio::select! {
                biased;
                _ = self.term.ended() => return Ok(()),
                () = SystemClock.sleep(plugin.first_work_after) => {}
            }
        }
        loop {
            // Between the soft deadline and the word to stop, nothing starts. A turn that comes
            // after the end, as that of a process that was paused, is not this term's to miss.
            if !self.term.may_start(SystemClock.now()) {
                self.term.ended().await;
                return Ok(());
            }
            stats.working(SystemClock.wall_ms());
            match self.call(plugin, Purpose::Work).await {
                None => return Ok(()),
                Some((run, Ok(()))) => {
                    restarts.worked();
                    stats.worked(run);
                }
                Some(_) if self.term.has_ended() => return Ok(()),
                Some((run, Err(failure))) => {
                    let caller = self.caller(plugin);
                    caller.pause_after(run, &failure, Purpose::Work, &mut restarts).await?;
                    self.start(plugin, &mut restarts).await?;
                    continue;
                }
            }
            tokio::select! {
                biased;
                _ = self.term.ended() => return Ok(()),
                () = SystemClock.sleep(stats.interval) => {}
            }
        }
    }

    async fn call(
        &self,
        registered: &RegisteredPlugin,
        purpose: Purpose,
    ) -> Option<(Run, Result<(), CallFailure>)> {
        let term = Leadership::take(&self.term, &self.shared)?;
        let plugin = registered.plugin.clone();
        let timeout = match purpose {
            Purpose::Start => Some(registered.start_timeout),
            Purpose::Work => registered.work_timeout,
        };
        let call = async move {
            match purpose {
                Purpose::Start => plugin.on_become_coordinator(&term).await,
                Purpose::Work => plugin.coordinator_work(&term).await,
            }
        };
        Some(self.caller(registered).call(purpose, timeout, call).await)
    }

    async fn stop(&self, registered: &RegisteredPlugin, ending: Ending) {
        let (plugin, reason) = (registered.plugin.clone(), ending.reason);
        let stopping = async move {
            plugin.on_stop_being_coordinator(reason).await;
            Ok(())
        };
        let caller = self.caller(registered);
        if let Err(failure) = caller.isolated(None, stopping).await {
            caller.report_failed(&failure, None);
        }
        registered.registered.stats.stopped();
        let (plugin, epoch) = (registered.registered.name.clone(), self.term.epoch);
        self.shared.events.send(Event::PluginDemoted { plugin, epoch, reason });
    }

    fn caller<'a>(&'a self, plugin: &'a RegisteredPlugin) -> Caller<'a> {
        Caller {
            shared: &self.shared,
            registered: &plugin.registered,
            life: &self.term.life,
            runtime: self.shared.plugins.runtime(),
            epoch: Some(self.term.epoch),
        }
    }
}
