//! A command as the work of a schedule: `baton run --cron`, and `[[schedule]]` of `baton serve`.
//!
//! ```text
//!   attempt ──► a guard of the pool ──► CMD, with BATON_SLOT and BATON_ATTEMPT
//!      │  renewals, stop ──►  │
//!      ◄── exited, stopped ───┘ the guard goes back to the pool
//! ```
//!
//! The run holds its term until the guard has said that nothing of the command is left, whatever
//! happens to the attempt's own task.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use baton::clock::Window;
use baton::plugins::schedules::{CutOff, ScheduledRun, ScheduledWork};
use baton::{Namespace, PluginError, async_trait};
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::oneshot;

use crate::commands::run::term::{environment, order};
use crate::guard::{Ending, Guard, GuardPool, Report, Start};

/// A command, and what it needs to be run.
pub struct ScheduledCommand {
    pub command: Vec<OsString>,
    pub namespace: Namespace,
    /// The store's URL for the environment of the command.
    pub store: String,
    pub guards: Arc<GuardPool>,
    /// How long the command has to end when it is told to.
    pub stop_grace: Duration,
}

/// How an attempt of a command failed.
#[derive(Debug, thiserror::Error)]
enum CommandFailed {
    #[error("exit code {0}")]
    Code(i32),
    #[error("ended by signal {0}")]
    Signal(i32),
    #[error("{0}")]
    NotStarted(String),
    #[error("the guard process does not start ({0})")]
    NoGuard(io::Error),
}

#[async_trait]
impl ScheduledWork for ScheduledCommand {
    async fn run(&self, run: ScheduledRun) -> Result<(), PluginError> {
        let guard = self.guards.take().await.map_err(CommandFailed::NoGuard)?;
        let start = self.start(&run);
        let (guards, grace) = (self.guards.clone(), self.stop_grace);
        let (done, ended) = oneshot::channel();
        let attempt = async move {
            let outcome = supervise(guard, start, &run, (&guards, grace)).await;
            // The attempt's own task may have been cancelled, and nothing else waits for this.
            let _ = done.send(outcome);
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it must go on until the command is proved gone, whatever becomes of the \
                      attempt; it holds the term, which waits for it"
        )]
        tokio::spawn(attempt);
        ended.await.map_err(|_| CutOff)?
    }
}

impl ScheduledCommand {
    fn start(&self, run: &ScheduledRun) -> Start {
        let (term, node) = (run.term(), self.guards.node());
        let node = node.expect("a guard is started for a known node alone");
        let own = [
            ("BATON_SCHEDULE", run.schedule().to_owned()),
            ("BATON_SLOT", run.slot()),
            ("BATON_ATTEMPT", run.attempt().to_string()),
        ];
        let common = environment(&node, &self.namespace, &self.store, term);
        order(&self.command, common.into_iter().chain(own), term)
    }
}

/// Runs the command to its end, and gives the guard back.
async fn supervise(
    mut guard: Guard,
    start: Start,
    run: &ScheduledRun,
    (guards, grace): (&GuardPool, Duration),
) -> Result<(), PluginError> {
    let window = start.window;
    guard.start(start).map_err(CommandFailed::NoGuard)?;
    let ended = until_stopped(&mut guard, run, (window, grace)).await;
    guards.put(guard);
    match ended? {
        Some(Ok(Ending::Code(0))) => Ok(()),
        Some(Ok(Ending::Code(code))) => Err(CommandFailed::Code(code).into()),
        Some(Ok(Ending::Signal(number))) => Err(CommandFailed::Signal(number).into()),
        Some(Err(error)) => Err(CommandFailed::NotStarted(error).into()),
        None => Err(CutOff.into()),
    }
}

/// How the command ended; `None` if it was stopped before it was done, or the guard was lost.
async fn until_stopped(
    guard: &mut Guard,
    run: &ScheduledRun,
    (mut window, grace): (Window, Duration),
) -> io::Result<Option<Result<Ending, String>>> {
    let term = run.term();
    let (mut is_told, mut is_term_over) = (false, false);
    let mut ended = None;
    loop {
        tokio::select! {
            biased;
            report = guard.next() => match report {
                Report::Started { .. } => {}
                // The guard keeps the deadlines too, and may be the first to stop it.
                Report::FailedToStart { error } if term.may_start_work() => {
                    ended = Some(Err(error));
                }
                // It may have ended right before it was stopped: code 0 says that it is done.
                Report::Exited(how @ Ending::Code(0)) => ended = Some(Ok(how)),
                Report::Exited(how) if !is_told && term.may_start_work() => ended = Some(Ok(how)),
                Report::FailedToStart { .. } | Report::Exited(_) => {}
                Report::Lost { .. } => return Ok(None),
                Report::Stopped => return Ok(ended),
            },
            _ = term.lost(), if !is_term_over => {
                (is_told, is_term_over) = (true, true);
                guard.stop(term.stop_by())?;
            }
            () = run.stopped(), if !is_told => {
                is_told = true;
                guard.stop((SystemClock.now() + grace).min(term.stop_by()))?;
            }
            moved = term.renewed(window.hard), if !is_told => {
                window = moved;
                guard.extend(window)?;
            }
        }
    }
}
