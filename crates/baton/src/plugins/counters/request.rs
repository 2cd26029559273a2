//! Asking for a consolidation: two documents, one with the request and one with the answer.
//!
//! ```text
//!   a caller ── writes baton:counters:wanted, which counts its writes ──► leader looks at it
//!   a caller ◄── baton:counters:done, the number that was served, fenced ──┘ every second
//! ```

use std::time::Duration;

use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Document, Precondition, Store, StoreError, WriteOutcome};

use super::error::CountError;
use crate::leadership::Leadership;

const WANTED: &str = "baton:counters:wanted";
const DONE: &str = "baton:counters:done";

/// Between two looks at the answer.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks, and waits for the answer.
pub(super) async fn make(
    store: &dyn Store,
    namespace: &Namespace,
    patience: Duration,
) -> Result<bool, CountError> {
    let gives_up_at = SystemClock.now() + patience;
    let write = store.write_document(namespace, WANTED, Vec::new(), Precondition::Any, None);
    let WriteOutcome::Written(wanted) = write.await? else { return Ok(false) };
    loop {
        let done = store.read_document(namespace, DONE).await?;
        if number(done.as_ref()) >= wanted {
            return Ok(true);
        }
        if SystemClock.now() >= gives_up_at {
            return Ok(false);
        }
        SystemClock.sleep(PAUSE).await;
    }
}

/// The newest request, if it is newer than the one served last.
pub(super) async fn look(term: &Leadership, served: u64) -> Result<Option<u64>, StoreError> {
    let found = term.read_document(WANTED).await?;
    let wanted = found.map_or(0, |document| document.version);
    Ok((wanted > served).then_some(wanted))
}

/// The newest request that was served, by whomever.
pub(super) async fn last_served(term: &Leadership) -> Result<u64, StoreError> {
    Ok(number(term.read_document(DONE).await?.as_ref()))
}

/// Says that a request was served.
pub(super) async fn answer(term: &Leadership, wanted: u64) -> Result<(), StoreError> {
    let body = wanted.to_string().into_bytes();
    term.write_document(DONE, body, Precondition::Any).await.map(|_| ())
}

fn number(document: Option<&Document>) -> u64 {
    let text = document.and_then(|document| std::str::from_utf8(&document.body).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
