//! Waits until the work of a key is done, and runs the command if that falls to this process.

use std::future::pending;
use std::time::Duration;

use baton::clock::Moment;
use baton::once::{
    OnceAttempt, OnceCause, OnceElection, OnceEnd, OnceError, OnceFailure, OnceKey, OnceRecords,
    OnceState, OnceSuccess, OnceTurn, settings,
};
use baton::{Departure, Leadership, Namespace, Node};
use baton_core::time::whole_ms;
use baton_store::clock::{Clock, SystemClock};

use super::Arguments;
use crate::commands::run::runner::{close_guard, code_of, guard_lost, start_guard};
use crate::commands::run::term::{Request, Signals, TermOutcome, environment, lead, order};
use crate::commands::serve::{departed, unfinished};
use crate::config::{Config, Environment, StoreUrl};
use crate::error::{CommandError, Exit};
use crate::guard::{Ending, Guard, Report, reap_orphans};
use crate::nested_node::refuse_nested;
use crate::output::log::{self, Level};
use crate::output::times::{span_ms, utc};
use crate::{crash_notice, node, open_store};

/// Until when the whole invocation may take, if there is a limit.
#[derive(Clone, Copy)]
struct Limit {
    span: Option<Duration>,
    at: Option<Moment>,
}

impl Limit {
    fn from_now(span: Option<Duration>) -> Self {
        Self { span, at: span.map(|span| SystemClock.now() + span) }
    }

    async fn reached(self) {
        match self.at {
            Some(at) => SystemClock.sleep(at.since(SystemClock.now())).await,
            None => pending().await,
        }
    }
}

/// Waits until a signal asks this process to end, or the limit is reached: with what error.
async fn interrupted(signals: &mut Signals, limit: Limit, key: &OnceKey) -> CommandError {
    loop {
        tokio::select! {
            biased;
            asked = signals.next() => if asked == Request::Stop {
                return CommandError::Interrupted { key: key.to_string() };
            },
            () = limit.reached() => return timed_out(key, limit),
        }
    }
}

fn timed_out(key: &OnceKey, limit: Limit) -> CommandError {
    let limit = limit.span.unwrap_or_default();
    CommandError::Once(OnceError::TimedOut { key: key.clone(), limit })
}

/// An error of the library, with the store's URL where the store is to blame.
fn error(store: &StoreUrl) -> impl Fn(OnceError) -> CommandError {
    move |problem| match problem {
        OnceError::Store(problem) => CommandError::Store { url: store.clone(), problem },
        problem => CommandError::Once(problem),
    }
}

/// Runs the command once among all processes of this key.
pub async fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    let limit = Limit::from_now(arguments.timeout);
    let (config, base, key) = load(arguments)?;
    let mut signals = Signals::listen().map_err(CommandError::system("no signals"))?;
    let store = node::store(&config).await?;
    let records = OnceRecords::new(store.clone(), key.clone());
    let mut is_told = false;
    let report = |problem: &OnceError| {
        if !std::mem::replace(&mut is_told, true) {
            log::error(&format!("{problem}; trying again"));
        }
    };
    let found = tokio::select! {
        biased;
        found = records.read_patiently(report) => found.map_err(error(&config.store))?,
        stopped = interrupted(&mut signals, limit, &key) => return Err(stopped),
    };
    let least = if arguments.quiet { Level::Error } else { Level::Info };
    if let Some(OnceState::Succeeded(success)) = found.record.as_ref().map(|it| &it.state) {
        if least <= Level::Info {
            let OnceSuccess { node, finished_ms, .. } = success;
            log::info(&format!("{key} is done: node {node} finished it at {}", utc(*finished_ms)));
        }
        return Ok(Exit::DONE);
    }
    let telemetry = node::Telemetry::of(&config)?;
    let builder = telemetry.attach(node::builder(&config, store.clone()));
    let (node, mut events) = builder.build_with_events()?;
    let notice = crash_notice::of_this_node(&config, Some(node.id()), &*store).await;
    node::introduce(&node, notice.as_ref(), least);
    let election = OnceElection::new(node.clone(), records, &found, arguments.on_crash.into());
    let (guard, unproved) = (None, None);
    let runner =
        Runner { arguments, config: &config, base, key, node, limit, signals, guard, unproved };
    let ended = tokio::select! {
        biased;
        ended = runner.run(&election) => ended,
        () = log::follow(&mut events, least) => unreachable!("it goes on for ever"),
        never = reap_orphans() => match never {},
    };
    log::catch_up(&mut events, least);
    ended
}

/// The configuration of a node in the key's namespace, and the namespace that was configured.
fn load(arguments: &Arguments) -> Result<(Config, Namespace, OnceKey), CommandError> {
    let mut config = open_store::load(&arguments.node.0)?;
    let key = OnceKey::new(&config.namespace, &arguments.key).map_err(CommandError::Key)?;
    config = config.checked()?;
    if !config.settings.enabled {
        log::warn("enabled is false: nothing is remembered, and every start runs the command");
    }
    let base = std::mem::replace(&mut config.namespace, key.namespace().clone());
    refuse_nested(&config, &Environment::of_process())?;
    config.settings = settings(config.settings);
    Ok((config, base, key))
}

struct Runner<'a> {
    arguments: &'a Arguments,
    config: &'a Config,
    /// The namespace that was configured, which the command is told.
    base: Namespace,
    key: OnceKey,
    node: Node,
    limit: Limit,
    signals: Signals,
    guard: Option<Guard>,
    /// The term of a command that is not proved gone. As long as it is held the lease stays.
    unproved: Option<Leadership>,
}

impl Runner<'_> {
    async fn run(mut self, election: &OnceElection) -> Result<Exit, CommandError> {
        let ended = self.until_ended(election).await;
        if close_guard(&mut self.guard).await? {
            self.unproved = None;
        }
        if self.node.leave().await == Departure::Unfinished {
            log::warn(&unfinished(&self.node));
        }
        ended
    }

    /// Waits, and runs the command whenever that falls to this process.
    async fn until_ended(&mut self, election: &OnceElection) -> Result<Exit, CommandError> {
        self.say(&format!("node {} waits for {}", self.node.id(), self.key));
        loop {
            // Started before it is needed: a successor has only to say what to run.
            if self.guard.as_ref().is_none_or(Guard::is_lost) {
                self.guard = Some(start_guard(&self.node)?);
            }
            let guard = self.guard.as_mut().expect("it was seen to above");
            let turn = tokio::select! {
                biased;
                turn = election.next() => turn,
                report = guard.next() => return Err(guard_lost(report)),
                stopped = interrupted(&mut self.signals, self.limit, &self.key) => {
                    return Err(stopped);
                }
            };
            let turn = match turn {
                Ok(OnceTurn::Run(turn)) => turn,
                Ok(OnceTurn::Ended(end)) => return self.ended(end),
                Err(OnceError::Left(_)) => return departed(&self.node, self.node.left().await),
                Err(problem) => return Err(error(&self.config.store)(problem)),
            };
            if let Some(exit) = self.lead(turn).await? {
                return Ok(exit);
            }
        }
    }

    /// Another node has run the command.
    fn ended(&self, end: OnceEnd) -> Result<Exit, CommandError> {
        match end {
            OnceEnd::Succeeded(OnceSuccess { node, took_ms, .. }) => {
                let (key, took) = (&self.key, span_ms(took_ms));
                self.say(&format!("{key} is done: node {node} ran it, and it took {took}"));
                Ok(Exit::DONE)
            }
            OnceEnd::Failed(failure) => Err(self.failed(failure)),
        }
    }

    fn failed(&self, failure: OnceFailure) -> CommandError {
        CommandError::Once(OnceError::Failed { key: self.key.clone(), failure })
    }

    /// One run of the command. `None` if it was cut off, and this process waits again.
    async fn lead(&mut self, turn: OnceAttempt) -> Result<Option<Exit>, CommandError> {
        let (attempt, term) = (turn.run().attempt(), turn.run().term().clone());
        let (epoch, key) = (term.epoch(), self.key.clone());
        self.say(&format!("node {} runs {key}: attempt {attempt}, epoch {epoch}", self.node.id()));
        let store = self.config.store.without_secrets();
        let env = environment(&self.node, &self.base, &store, &term);
        let own = [("BATON_KEY", key.to_string()), ("BATON_ATTEMPT", attempt.to_string())];
        let start = order(&self.arguments.command, env.into_iter().chain(own), &term);
        let guard = self.guard.as_mut().expect("there is one whenever this node waits");
        let outcome = tokio::select! {
            biased;
            outcome = lead(&self.node, start, guard, &mut self.signals, &term) => outcome,
            () = self.limit.reached() => {
                self.stop_command(&term).await?;
                let limit_ms = self.limit.span.map_or(0, whole_ms);
                self.record(&turn, Err(OnceCause::TimedOut { limit_ms })).await?;
                return Err(timed_out(&self.key, self.limit));
            }
        };
        match outcome {
            Ok(TermOutcome::Ended(ending)) => return self.command_ended(turn, ending).await,
            Ok(TermOutcome::Lost { reason }) => {
                self.say(&format!("epoch {epoch} is over: {reason}; {key} was cut off"));
            }
            Ok(TermOutcome::Cut) => {
                self.say(&format!("the end of epoch {epoch} seemed to be near: {key} was cut off"));
            }
            Ok(TermOutcome::Stopped { .. }) => {
                return Err(CommandError::Interrupted { key: key.to_string() });
            }
            Ok(TermOutcome::Stuck) => {
                self.unproved = Some(term);
                return Err(CommandError::Interrupted { key: key.to_string() });
            }
            Ok(TermOutcome::GuardLost(report)) => return Err(guard_lost(report)),
            Err(problem) => {
                self.unproved = Some(term);
                return Err(problem);
            }
        }
        drop(term);
        turn.give_up().await;
        Ok(None)
    }

    /// The command ended by itself: that is recorded, and is the end of this process too.
    async fn command_ended(
        &mut self,
        turn: OnceAttempt,
        ending: Ending,
    ) -> Result<Option<Exit>, CommandError> {
        let (key, code) = (self.key.clone(), code_of(ending));
        let attempt = turn.run().attempt();
        if code != 0 {
            let cause = OnceCause::Exit(code);
            self.record(&turn, Err(cause.clone())).await?;
            let (node, finished_ms) = (self.node.id().clone(), SystemClock.wall_ms());
            return Err(self.failed(OnceFailure { attempt, node, finished_ms, cause }));
        }
        if self.record(&turn, Ok(())).await? {
            self.say(&format!("{key} is done: attempt {attempt} ended with code 0"));
            return Ok(Some(Exit::DONE));
        }
        log::warn(&format!(
            "{key} ended with code 0, which could not be recorded while the term lasted: it counts \
             as cut off"
        ));
        turn.give_up().await;
        Ok(None)
    }

    /// Records the end of a run, unless a signal or the limit ends the wait for the store.
    async fn record(
        &mut self,
        turn: &OnceAttempt,
        result: Result<(), OnceCause>,
    ) -> Result<bool, CommandError> {
        tokio::select! {
            biased;
            recorded = turn.finish(result) => recorded.map_err(error(&self.config.store)),
            () = stop_asked(&mut self.signals) => {
                Err(CommandError::Interrupted { key: self.key.to_string() })
            }
        }
    }

    /// Stops the command, TERM first, and waits until nothing of it runs any more.
    async fn stop_command(&mut self, term: &Leadership) -> Result<(), CommandError> {
        let guard = self.guard.as_mut().expect("it runs the command");
        let by = term.stop_by().min(SystemClock.now() + self.node.settings().stop_grace);
        guard.stop(by).map_err(CommandError::system("the guard process does not accept orders"))?;
        loop {
            // A guard that was late was killed, and everything of the command with it.
            if let Report::Stopped | Report::Lost { .. } = guard.next().await {
                return Ok(());
            }
        }
    }

    fn say(&self, line: &str) {
        if !self.arguments.quiet {
            log::info(line);
        }
    }
}

/// Waits until a signal asks this process to end.
async fn stop_asked(signals: &mut Signals) {
    while signals.next().await != Request::Stop {}
}
