//! One attempt: the work runs as a task of its own, until it ends or is stopped.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use baton_core::schedule::AttemptEnd;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::job::{CutOff, ScheduledRun, ScheduledWork};
use crate::plugin::{PluginError, panic_message};

/// Why an attempt is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The term is over.
    Term,
    /// Its time is over.
    Timeout,
    /// A newer slot replaces it.
    Replaced,
}

/// An attempt that is about to start, and what ends it.
pub(super) struct Attempt {
    pub(super) work: Arc<dyn ScheduledWork>,
    pub(super) run: ScheduledRun,
    /// Ends when no clone of the run exists any more.
    pub(super) alive: mpsc::Receiver<Infallible>,
    /// Cancelled when a newer slot replaces it.
    pub(super) replaced: CancellationToken,
    pub(super) timeout: Option<Duration>,
    /// How long it has to end when it is told to stop.
    pub(super) grace: Duration,
}

/// Runs an attempt. `None` if it was cut off with its term: the next leader decides what becomes of
/// it. What ignores its cancellation is waited for all the same.
pub(super) async fn run_attempt(attempt: Attempt) -> Option<AttemptEnd> {
    let Attempt { work, run, mut alive, replaced, timeout, grace } = attempt;
    let term = run.term.clone();
    // Whatever becomes of this task, what it started is told to stop.
    let stops = run.token.clone().drop_guard();
    // Between the claim and this the term may have ended.
    if !term.may_start_work() {
        return Some(AttemptEnd::CutOff);
    }
    let mut task = JoinSet::new();
    task.spawn(async move { work.run(run).await });
    let stop = tokio::select! {
        biased;
        done = task.join_next() => {
            alive.recv().await;
            return ended(done, None);
        }
        _ = term.lost() => Stop::Term,
        () = replaced.cancelled() => Stop::Replaced,
        () = over(timeout) => Stop::Timeout,
    };
    drop(stops);
    let by = match stop {
        Stop::Term => last_call(term.stop_by()),
        Stop::Timeout | Stop::Replaced => last_call(SystemClock.now() + grace),
    };
    let done = tokio::select! {
        biased;
        done = task.join_next() => done,
        () = SystemClock.sleep(by.since(SystemClock.now())) => None,
        // The term may end meanwhile, and leave less time than that.
        () = term_is_over(&term), if stop != Stop::Term => None,
    };
    task.abort_all();
    let done = match done {
        None => task.join_next().await,
        done => done,
    };
    alive.recv().await;
    ended(done, Some(stop))
}

async fn over(timeout: Option<Duration>) {
    match timeout {
        Some(span) => SystemClock.sleep(span).await,
        None => std::future::pending().await,
    }
}

async fn term_is_over(term: &crate::leadership::Leadership) {
    term.lost().await;
    SystemClock.sleep(last_call(term.stop_by()).since(SystemClock.now())).await;
}

/// When work that still runs is cancelled: early enough to be gone by then.
fn last_call(by: Moment) -> Moment {
    let left = by.since(SystemClock.now());
    by - (left / 3).min(Duration::from_millis(700))
}

type Done = Option<Result<Result<(), PluginError>, JoinError>>;

fn ended(done: Done, stop: Option<Stop>) -> Option<AttemptEnd> {
    let message = match done {
        Some(Ok(Ok(()))) => return Some(AttemptEnd::Done),
        Some(Ok(Err(problem))) if stop.is_none() && problem.is::<CutOff>() => {
            return Some(AttemptEnd::CutOff);
        }
        Some(Ok(Err(problem))) => problem.to_string(),
        Some(Err(problem)) => match problem.try_into_panic() {
            Ok(panic) => format!("it panicked: {}", panic_message(&*panic)),
            Err(_) => "it was cancelled".to_owned(),
        },
        None => "it did not run".to_owned(),
    };
    match stop {
        None => Some(AttemptEnd::Failed(message)),
        Some(Stop::Timeout) => Some(AttemptEnd::TimedOut),
        Some(Stop::Replaced) => Some(AttemptEnd::Stopped),
        Some(Stop::Term) => None,
    }
}
