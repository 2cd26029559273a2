//! Waiting for what must come, and no longer than a test can afford.

use std::future::Future;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks until something is found.
///
/// # Panics
///
/// If nothing is within [`PATIENCE`]; says what was waited for.
pub async fn until<T>(what: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let end = SystemClock.now() + PATIENCE;
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(SystemClock.now() < end, "waited in vain for {what}, {PATIENCE:?} long");
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}

/// What comes of the work; `None` too if it does not end within [`PATIENCE`].
pub async fn soon<T>(work: impl Future<Output = Option<T>>) -> Option<T> {
    tokio::select! {
        found = work => found,
        () = SystemClock.sleep(PATIENCE) => None,
    }
}
