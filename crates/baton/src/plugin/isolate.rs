//! One call into a plugin or a service, as a task of its own: its panic ends the call alone.

use std::future::Future;
use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use super::PluginError;
use crate::term::Lifetime;

/// How long after its cancellation a call is reported to ignore it, at the soonest.
const CANCELLED_WITHIN: Duration = Duration::from_secs(1);

/// How a call ended badly.
#[derive(Debug, thiserror::Error)]
pub enum CallFailure {
    #[error("{0}")]
    Failed(PluginError),
    #[error("it panicked: {0}")]
    Panicked(String),
    #[error("it took longer than its timeout of {0:?}")]
    TimedOut(Duration),
    /// It was still running shortly before it had to be over.
    #[error("it was cancelled")]
    Cancelled,
}

/// Runs the call to its end, to its timeout, or to its cancellation shortly before its life has to
/// be over. If it goes on even then, `stuck` is called once, and the end is waited for all the
/// same: without it there is no proof of stop.
pub async fn isolated(
    (life, runtime): (&Lifetime, &Handle),
    timeout: Option<Duration>,
    call: impl Future<Output = Result<(), PluginError>> + Send + 'static,
    stuck: impl FnOnce() + Send,
) -> Result<(), CallFailure> {
    let mut task = JoinSet::new();
    task.spawn_on(call, runtime);
    let (over_by, timed_out) = tokio::select! {
        biased;
        done = task.join_next() => return outcome(done),
        by = life.ended() => (by, None),
        span = over(timeout) => (SystemClock.now(), Some(span)),
    };
    if timed_out.is_none() {
        tokio::select! {
            biased;
            done = task.join_next() => return outcome(done),
            () = until(last_call(over_by)) => {}
        }
    }
    task.abort_all();
    let done = tokio::select! {
        biased;
        done = task.join_next() => done,
        // After a pause of the process the moment named is long over, and the call not at fault.
        () = until(over_by.max(SystemClock.now() + CANCELLED_WITHIN)) => {
            stuck();
            task.join_next().await
        }
    };
    match (outcome(done), timed_out) {
        (Err(CallFailure::Cancelled), Some(span)) => Err(CallFailure::TimedOut(span)),
        (ended, _) => ended,
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

fn outcome(done: Option<Result<Result<(), PluginError>, JoinError>>) -> Result<(), CallFailure> {
    match done {
        None | Some(Ok(Ok(()))) => Ok(()),
        Some(Ok(Err(error))) => Err(CallFailure::Failed(error)),
        Some(Err(error)) => match error.try_into_panic() {
            Ok(panic) => Err(CallFailure::Panicked(panic_message(&*panic))),
            Err(_) => Err(CallFailure::Cancelled),
        },
    }
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_call_that_ends_when_cancelled_after_a_pause_is_not_called_stuck() {
        let over = SystemClock.now() - Duration::from_secs(1);
        let life = Lifetime::default();
        life.end(over);
        let place = (&life, &Handle::current());
        let stuck = Arc::<AtomicBool>::default();
        let reported = stuck.clone();
        let call = async {
            // Busy for a moment before its next await.
            let (_open, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(Duration::from_millis(20));
            std::future::pending().await
        };
        let told = move || reported.store(true, Ordering::SeqCst);
        let ended = isolated(place, None, call, told).await;
        assert!(matches!(ended, Err(CallFailure::Cancelled)), "{ended:?}");
        assert!(!stuck.load(Ordering::SeqCst), "it ended at its next await");
    }
}
