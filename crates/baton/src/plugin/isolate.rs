//! One call into a plugin, as a task of its own: its panic ends the call and nothing else.

use std::future::Future;
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use super::PluginError;
use crate::term::{Ending, Term};

/// How long after its cancellation a call is reported to ignore it, at the soonest.
const CANCELLED_WITHIN: Duration = Duration::from_secs(1);

/// How a call ended badly.
#[derive(Debug)]
pub enum Fault {
    /// It returned an error.
    Failed(PluginError),
    /// It panicked.
    Panicked(String),
    /// It took longer than this and was cancelled.
    TimedOut(Duration),
    /// It was still running shortly before the term had to be over and was cancelled.
    Cancelled,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Panicked(message) => write!(f, "panicked: {message}"),
            Self::TimedOut(span) => write!(f, "took longer than its timeout of {span:?}"),
            Self::Cancelled => f.write_str("was cancelled"),
        }
    }
}

/// Where a call runs, and for how long.
pub struct Bounds<'a> {
    pub term: &'a Term,
    pub runtime: Handle,
    pub timeout: Option<Duration>,
}

/// Runs the call to its end, to its timeout, or to its cancellation shortly before the term has to
/// be over. If it goes on even then, `stuck` is called once, and the end is waited for all the
/// same: without it there is no proof of stop.
pub async fn isolated(
    bounds: Bounds<'_>,
    call: impl Future<Output = Result<(), PluginError>> + Send + 'static,
    stuck: impl FnOnce() + Send,
) -> Result<(), Fault> {
    let mut task = JoinSet::new();
    task.spawn_on(call, &bounds.runtime);
    let Ending { by, .. } = tokio::select! {
        biased;
        done = task.join_next() => return outcome(done),
        ending = bounds.term.ended() => ending,
        span = over(bounds.timeout) => return cancelled(task, span, stuck).await,
    };
    tokio::select! {
        biased;
        done = task.join_next() => return outcome(done),
        () = until(last_call(by)) => task.abort_all(),
    }
    tokio::select! {
        biased;
        done = task.join_next() => return outcome(done),
        // After a pause of the process the moment named is long over, and the call not at fault.
        () = until(by.max(SystemClock.now() + CANCELLED_WITHIN)) => stuck(),
    }
    outcome(task.join_next().await)
}

/// The call took too long.
async fn cancelled(
    mut task: JoinSet<Result<(), PluginError>>,
    span: Duration,
    stuck: impl FnOnce() + Send,
) -> Result<(), Fault> {
    task.abort_all();
    let done = tokio::select! {
        biased;
        done = task.join_next() => Some(done),
        () = SystemClock.sleep(CANCELLED_WITHIN) => None,
    };
    let done = match done {
        Some(done) => done,
        None => {
            stuck();
            task.join_next().await
        }
    };
    match outcome(done) {
        Err(Fault::Cancelled) => Err(Fault::TimedOut(span)),
        ended => ended,
    }
}

async fn over(timeout: Option<Duration>) -> Duration {
    let Some(span) = timeout else { return std::future::pending().await };
    SystemClock.sleep(span).await;
    span
}

/// When calls that still run are cancelled: early enough to be gone by the moment named.
fn last_call(by: Moment) -> Moment {
    let grace = by.since(SystemClock.now());
    by - (grace / 4).min(Duration::from_millis(500))
}

pub async fn until(moment: Moment) {
    SystemClock.sleep(moment.since(SystemClock.now())).await;
}

fn outcome(done: Option<Result<Result<(), PluginError>, JoinError>>) -> Result<(), Fault> {
    match done {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(error))) => Err(Fault::Failed(error)),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(panic) => Err(Fault::Panicked(message(&*panic))),
            Err(_) => Err(Fault::Cancelled),
        },
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use baton_core::DemotionReason;
    use baton_core::ids::Epoch;
    use baton_core::lease::Window;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_call_that_ends_when_cancelled_after_a_pause_is_not_called_stuck() {
        let over = SystemClock.now() - Duration::from_secs(1);
        let term = Term::new(Epoch(1), Window { soft: over, hard: over });
        term.stop(Ending { reason: DemotionReason::WindowClosed, by: over });
        let runtime = Handle::current();
        let bounds = Bounds { term: &term, runtime, timeout: None };
        let stuck = Arc::<AtomicBool>::default();
        let told = stuck.clone();
        let call = async {
            // Busy for a moment before its next await.
            let (_open, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(Duration::from_millis(20));
            std::future::pending().await
        };
        let ended = isolated(bounds, call, move || told.store(true, Ordering::SeqCst)).await;
        assert!(matches!(ended, Err(Fault::Cancelled)), "{ended:?}");
        assert!(!stuck.load(Ordering::SeqCst), "it ended at its next await");
    }
}
