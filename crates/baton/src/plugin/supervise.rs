//! Looks after the plugins for one term: starts them in order, keeps each working, stops them all,
//! and reports the proof.

use std::sync::Arc;

use baton_core::time::whole_ms;
use baton_core::{Event, Input};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::Plugin;
use super::crew::{Crew, isolated};
use super::isolate::{Fault, until};
use super::restart::Restarts;
use crate::drive::Message;
use crate::leadership::Leadership;
use crate::shared::Shared;
use crate::term::Term;

/// How looking after one plugin ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    /// With the term.
    Ended,
    /// It failed too often.
    GaveUp,
}

/// The supervisor of one term.
#[derive(Clone)]
pub struct Supervisor {
    crew: Crew,
    node: Arc<Shared>,
    term: Arc<Term>,
}

impl Supervisor {
    pub fn new(crew: Crew, node: Arc<Shared>, term: Arc<Term>) -> Self {
        Self { crew, node, term }
    }

    /// From the start of the term to the proof that nothing of it runs.
    pub async fn run(self) {
        let epoch = self.term.epoch;
        let mut watched = JoinSet::new();
        let mut known = 0;
        let mut healthy = self.start_new(&mut known, &mut watched).await;
        if healthy {
            self.report(Input::TermStarted { epoch });
        }
        let ending = loop {
            if !healthy {
                self.report(Input::TermFailed { epoch });
                break self.term.ended().await;
            }
            tokio::select! {
                biased;
                ending = self.term.ended() => break ending,
                Some(ended) = watched.join_next() => {
                    healthy = matches!(ended, Ok(Watched::Ended));
                }
                () = self.crew.more_than(known) => {
                    healthy = self.start_new(&mut known, &mut watched).await;
                }
            }
        };
        while watched.join_next().await.is_some() {}
        for plugin in self.crew.from(0).into_iter().take(known).rev() {
            let stopping = plugin.clone();
            let stopped = isolated(
                &self.term,
                async move {
                    stopping.on_stop_being_coordinator(ending.reason).await;
                    Ok(())
                },
                self.stuck(&plugin),
            );
            if let Err(fault) = stopped.await {
                self.tell_failed(&*plugin, &fault, None);
            }
        }
        self.term.let_go().await;
        self.report(Input::TermStopped { epoch });
    }

    /// Starts whatever has been registered since, in order. Says whether all of them started.
    async fn start_new(&self, known: &mut usize, watched: &mut JoinSet<Watched>) -> bool {
        for plugin in self.crew.from(*known) {
            *known += 1;
            let mut restarts = Restarts::new(plugin.restart_policy());
            match self.start(&plugin, &mut restarts).await {
                Watched::Ended if self.term.has_ended() => return true,
                Watched::Ended => {}
                Watched::GaveUp => return false,
            }
            let this = self.clone();
            watched.spawn(async move { this.keep_working(&plugin, restarts).await });
        }
        true
    }

    /// Starts a plugin, again and again if need be, until it is up, the term ends, or it has failed
    /// too often.
    async fn start(&self, plugin: &Arc<dyn Plugin>, restarts: &mut Restarts) -> Watched {
        loop {
            let Some(term) = Leadership::take(&self.term, &self.node) else {
                return Watched::Ended;
            };
            let starting = plugin.clone();
            let call = async move { starting.on_become_coordinator(&term).await };
            let Err(fault) = isolated(&self.term, call, self.stuck(plugin)).await else {
                return Watched::Ended;
            };
            if !self.pause_after(&**plugin, &fault, restarts).await {
                return Watched::GaveUp;
            }
        }
    }

    async fn keep_working(&self, plugin: &Arc<dyn Plugin>, mut restarts: Restarts) -> Watched {
        loop {
            // Between the soft deadline and the word to stop, nothing starts.
            if !self.term.may_start(SystemClock.now()) {
                self.term.ended().await;
            }
            let Some(term) = Leadership::take(&self.term, &self.node) else {
                return Watched::Ended;
            };
            let working = plugin.clone();
            let call = async move { working.coordinator_work(&term).await };
            if let Err(fault) = isolated(&self.term, call, self.stuck(plugin)).await {
                if self.term.has_ended() {
                    return Watched::Ended;
                }
                if !self.pause_after(&**plugin, &fault, &mut restarts).await
                    || self.start(plugin, &mut restarts).await == Watched::GaveUp
                {
                    return Watched::GaveUp;
                }
                continue;
            }
            tokio::select! {
                biased;
                _ = self.term.ended() => return Watched::Ended,
                () = SystemClock.sleep(plugin.work_interval()) => {}
            }
        }
    }

    /// Tells of a failure and waits before the next start; false if there is to be none.
    async fn pause_after(
        &self,
        plugin: &dyn Plugin,
        fault: &Fault,
        restarts: &mut Restarts,
    ) -> bool {
        let now = SystemClock.now();
        let wait = restarts.failed(now);
        self.tell_failed(plugin, fault, wait.map(whole_ms));
        let Some(wait) = wait else { return false };
        tokio::select! {
            biased;
            _ = self.term.ended() => {}
            () = until(now + wait) => {}
        }
        true
    }

    fn tell_failed(&self, plugin: &dyn Plugin, fault: &Fault, restart_in_ms: Option<u64>) {
        let (plugin, error) = (plugin.name().to_owned(), fault.to_string());
        self.node.teller.tell(Event::PluginFailed { plugin, error, restart_in_ms });
    }

    fn stuck(&self, plugin: &Arc<dyn Plugin>) -> impl FnOnce() + Send + 'static {
        let (teller, plugin) = (self.node.teller.clone(), plugin.name().to_owned());
        move || teller.tell(Event::PluginIgnoredCancellation { plugin })
    }

    fn report(&self, input: Input) {
        let _ = self.node.inbox.send(Message::Input { seat: self.node.seat, input });
    }
}
