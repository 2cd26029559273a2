//! Looks after the plugins for one term: starts them in order, keeps each working, stops them all,
//! and reports the proof. It runs on the node's own thread, so that no plugin can starve it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::time::whole_ms;
use baton_core::{Event, Input};
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::blame::blame;
use super::isolate::{Bounds, Fault, isolated, until};
use super::plugin_set::{PluginSet, RegisteredPlugin};
use super::report_document::keep_posted;
use super::restart::{Blame, Restarts};
use super::stats::{Run, in_ms};
use crate::drive::Message;
use crate::leadership::Leadership;
use crate::observe::PluginRun;
use crate::shared::Shared;
use crate::term::{Ending, Term};

/// How looking after one plugin ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    /// With the term.
    Ended,
    /// It failed too often.
    GaveUp,
}

/// What a plugin is called for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Start,
    Work,
}

/// The supervisor of one term.
#[derive(Clone)]
pub struct Supervisor {
    crew: PluginSet,
    node: Arc<Shared>,
    term: Arc<Term>,
}

impl Supervisor {
    pub fn new(crew: PluginSet, node: Arc<Shared>, term: Arc<Term>) -> Self {
        Self { crew, node, term }
    }

    /// From the start of the term to the proof that nothing of it runs, which is what it returns.
    pub async fn run(self) -> Message {
        let mut known = 0;
        let mut watched = JoinSet::new();
        let ending = tokio::select! {
            biased;
            ending = self.look_after(&mut known, &mut watched) => ending,
            () = keep_posted(&self.crew, &self.node, &self.term) => unreachable!("it goes on"),
        };
        while watched.join_next().await.is_some() {}
        for post in self.crew.from(0).into_iter().take(known).rev() {
            self.stop(&post, ending).await;
        }
        self.term.let_go().await;
        Message::Input {
            node: self.node.task,
            input: Input::TermStopped { epoch: self.term.epoch },
        }
    }

    /// Until the term is told to stop.
    async fn look_after(&self, known: &mut usize, watched: &mut JoinSet<Watched>) -> Ending {
        let epoch = self.term.epoch;
        let mut healthy = self.start_new(known, watched).await;
        if healthy {
            self.node.report(Input::TermStarted { epoch }).await;
        }
        loop {
            if !healthy {
                self.node.report(Input::TermFailed { epoch }).await;
                return self.term.ended().await;
            }
            tokio::select! {
                biased;
                ending = self.term.ended() => return ending,
                Some(ended) = watched.join_next() => {
                    healthy = matches!(ended, Ok(Watched::Ended));
                }
                () = self.crew.more_than(*known) => {
                    healthy = self.start_new(known, watched).await;
                }
            }
        }
    }

    /// Starts whatever has been registered since, in order. Says whether all of them started.
    async fn start_new(&self, known: &mut usize, watched: &mut JoinSet<Watched>) -> bool {
        for post in self.crew.from(*known) {
            *known += 1;
            let mut restarts = Restarts::new(post.restart);
            match self.start(&post, &mut restarts).await {
                Watched::Ended if self.term.has_ended() => return true,
                Watched::Ended => {}
                Watched::GaveUp => return false,
            }
            let this = self.clone();
            watched.spawn(async move { this.keep_working(&post, restarts).await });
        }
        true
    }

    /// Starts a plugin, again and again if need be, until it is up, the term ends, or it has failed
    /// too often.
    async fn start(&self, post: &Arc<RegisteredPlugin>, restarts: &mut Restarts) -> Watched {
        loop {
            post.ledger.starting();
            match self.call(post, Call::Start).await {
                None => return Watched::Ended,
                Some((_, Ok(()))) => {
                    post.ledger.started();
                    let (plugin, epoch) = (post.name.clone(), self.term.epoch);
                    self.node.events.send(Event::PluginPromoted { plugin, epoch });
                    return Watched::Ended;
                }
                Some((run, Err(fault))) => {
                    if !self.pause_after(post, run, &fault, Call::Start, restarts).await {
                        return Watched::GaveUp;
                    }
                }
            }
        }
    }

    async fn keep_working(&self, post: &Arc<RegisteredPlugin>, mut restarts: Restarts) -> Watched {
        if !post.first_work_after.is_zero() {
            post.ledger.put_off(SystemClock.wall_ms() + whole_ms(post.first_work_after));
            tokio::select! {
                biased;
                _ = self.term.ended() => return Watched::Ended,
                () = SystemClock.sleep(post.first_work_after) => {}
            }
        }
        loop {
            // Between the soft deadline and the word to stop, nothing starts. A turn that comes
            // after the end, as that of a process that was paused, is not this term's to miss.
            if !self.term.may_start(SystemClock.now()) {
                self.term.ended().await;
                return Watched::Ended;
            }
            post.ledger.working(SystemClock.wall_ms());
            match self.call(post, Call::Work).await {
                None => return Watched::Ended,
                Some((run, Ok(()))) => {
                    restarts.worked();
                    post.ledger.worked(run.at_ms, Duration::from_secs_f64(run.took_ms / 1e3));
                }
                Some(_) if self.term.has_ended() => return Watched::Ended,
                Some((run, Err(fault))) => {
                    if !self.pause_after(post, run, &fault, Call::Work, &mut restarts).await
                        || self.start(post, &mut restarts).await == Watched::GaveUp
                    {
                        return Watched::GaveUp;
                    }
                    continue;
                }
            }
            tokio::select! {
                biased;
                _ = self.term.ended() => return Watched::Ended,
                () = SystemClock.sleep(post.interval) => {}
            }
        }
    }

    /// Makes one call, and says how it went; `None` if the term is over.
    async fn call(
        &self,
        post: &Arc<RegisteredPlugin>,
        call: Call,
    ) -> Option<(Run, Result<(), Fault>)> {
        let term = Leadership::take(&self.term, &self.node)?;
        let plugin = post.plugin.clone();
        let (at_ms, began) = (SystemClock.wall_ms(), SystemClock.now());
        let timeout = match call {
            Call::Start => Some(post.start_timeout),
            Call::Work => post.work_timeout,
        };
        let (logs, run) = (self.node.events.logs.clone(), self.logged(post, call));
        let calling = async move {
            let calling = async {
                match call {
                    Call::Start => plugin.on_become_coordinator(&term).await,
                    Call::Work => plugin.coordinator_work(&term).await,
                }
            };
            logs.plugin_run(run, calling).await
        };
        let outcome = isolated(self.bounds(timeout), calling, self.stuck(post)).await;
        let took_ms = in_ms(SystemClock.now().since(began));
        Some((Run { at_ms, took_ms, error: None }, outcome))
    }

    /// Tells of a failure and waits before the next start; false if there is to be none.
    async fn pause_after(
        &self,
        post: &RegisteredPlugin,
        run: Run,
        fault: &Fault,
        call: Call,
        restarts: &mut Restarts,
    ) -> bool {
        let blame = tokio::select! {
            biased;
            _ = self.term.ended() => Blame::Store,
            blame = blame(&self.node) => blame,
        };
        let now = SystemClock.now();
        let wait = restarts.failed(now, blame);
        let again_at_ms = wait.map(|wait| SystemClock.wall_ms() + whole_ms(wait));
        let run = Run { error: Some(fault.to_string()), ..run };
        post.ledger.failed(run, call == Call::Work, again_at_ms);
        self.tell_failed(post, fault, wait.map(whole_ms));
        let Some(wait) = wait else { return false };
        tokio::select! {
            biased;
            _ = self.term.ended() => {}
            () = until(now + wait) => {}
        }
        true
    }

    async fn stop(&self, post: &Arc<RegisteredPlugin>, ending: Ending) {
        let (plugin, reason) = (post.plugin.clone(), ending.reason);
        let stopping = async move {
            plugin.on_stop_being_coordinator(reason).await;
            Ok(())
        };
        if let Err(fault) = isolated(self.bounds(None), stopping, self.stuck(post)).await {
            self.tell_failed(post, &fault, None);
        }
        post.ledger.stopped();
        let (plugin, epoch) = (post.name.clone(), self.term.epoch);
        self.node.events.send(Event::PluginDemoted { plugin, epoch, reason });
    }

    fn logged(&self, post: &RegisteredPlugin, call: Call) -> PluginRun {
        PluginRun {
            namespace: self.node.namespace.clone(),
            node: self.node.id.clone(),
            epoch: self.term.epoch,
            plugin: post.name.clone(),
            call: match call {
                Call::Start => "start",
                Call::Work => "work",
            },
        }
    }

    fn bounds(&self, timeout: Option<Duration>) -> Bounds<'_> {
        Bounds { term: &self.term, runtime: self.crew.runtime(), timeout }
    }

    fn tell_failed(&self, post: &RegisteredPlugin, fault: &Fault, restart_in_ms: Option<u64>) {
        let (plugin, error) = (post.name.clone(), fault.to_string());
        self.node.events.send(Event::PluginFailed { plugin, error, restart_in_ms });
    }

    fn stuck(&self, post: &RegisteredPlugin) -> impl FnOnce() + Send + 'static {
        let (events, plugin) = (self.node.events.clone(), post.name.clone());
        move || events.send(Event::PluginIgnoredCancellation { plugin })
    }
}
