//! Children of this process that it did not start. Process 1 of a container inherits every process
//! there whose parent has ended, and has to wait for each, or its entry stays for ever.

use std::convert::Infallible;
use std::future::pending;

use tokio::signal::unix::{SignalKind, signal};

use super::client::guards;
use super::sweep;

/// Waits for each child that has ended and is not a guard, as long as this is awaited.
pub async fn reap_orphans() -> Infallible {
    let Ok(mut ended) = signal(SignalKind::child()) else {
        // Without signals nothing else of baton works either, and says so.
        return pending().await;
    };
    loop {
        let reap = || {
            let _numbers = sweep::numbers();
            // A guard is noted in the same step that starts it, and its handle waits for it.
            sweep::reap_all_but(&guards());
        };
        // A look that failed is made up for by the next.
        let _ = tokio::task::spawn_blocking(reap).await;
        if ended.recv().await.is_none() {
            return pending().await;
        }
    }
}
