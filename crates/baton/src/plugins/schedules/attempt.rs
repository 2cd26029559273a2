//! One attempt: the work runs as a task of its own, until it ends or is stopped.

use std::sync::Arc;
use std::time::Duration;

use baton_core::schedule::AttemptEnd;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
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

/// Runs an attempt. `None` if it was cut off with its term: the next leader decides what becomes of
/// it. What ignores its cancellation is waited for all the same.
pub(super) async fn run_attempt(
    work: Arc<dyn ScheduledWork>,
    run: ScheduledRun,
    replaced: CancellationToken,
    (timeout, grace): (Option<Duration>, Duration),
) -> Option<AttemptEnd> {
    let (term, token) = (run.term.clone(), run.token.clone());
    let mut task = JoinSet::new();
    // Between the claim and this the term may have ended.
    if !term.may_start_work() {
        return None;
    }
    task.spawn(async move { work.run(run).await });
    let stop = tokio::select! {
        biased;
        done = task.join_next() => return ended(done, None),
        _ = term.lost() => Stop::Term,
        () = replaced.cancelled() => Stop::Replaced,
        () = over(timeout) => Stop::Timeout,
    };
    token.cancel();
    let by = match stop {
        Stop::Term => last_call(term.stop_by()),
        Stop::Timeout | Stop::Replaced => last_call(SystemClock.now() + grace),
    };
    tokio::select! {
        biased;
        done = task.join_next() => return ended(done, Some(stop)),
        () = SystemClock.sleep(by.since(SystemClock.now())) => {}
        // The term may end meanwhile, and leave less time than that.
        () = term_is_over(&term), if stop != Stop::Term => {}
    }
    task.abort_all();
    ended(task.join_next().await, Some(stop))
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
    if let Some(Ok(Err(problem))) = &done
        && problem.is::<CutOff>()
    {
        return (stop != Some(Stop::Term)).then_some(AttemptEnd::CutOff);
    }
    let message = match done {
        Some(Ok(Ok(()))) => return Some(AttemptEnd::Done),
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
