//! Whose fault a failure is: the plugin's own, or an outage of the store that it may use too.
//!
//! A beat comes every few seconds, so a plugin that fails often notices an outage before the beat
//! does. That is why a failure is followed by a question to the store.

use baton_core::protocol::Failure;
use baton_store::{Call, StoreError};

use super::report_document::DOCUMENT;
use super::restart::Blame;
use crate::drive::call_store;
use crate::shared::Shared;

/// Judges a failure that happened just now; takes a request to the store, and `request_timeout` at
/// most.
pub(super) async fn blame(node: &Shared) -> Blame {
    // A single instance has no store.
    if !node.settings.enabled {
        return Blame::Plugin;
    }
    if node.snapshot().breaker.failure_count > 0 {
        return Blame::Store;
    }
    let question = Call::ReadDocument { name: DOCUMENT.to_owned() };
    match call_store(node, question, node.settings.request_timeout).await {
        Some(Ok(_)) => Blame::Plugin,
        Some(Err(error)) if is_an_answer(&error) => Blame::Plugin,
        Some(Err(_)) | None => Blame::Store,
    }
}

/// Was the store reached, though it refuses?
fn is_an_answer(error: &StoreError) -> bool {
    error.failure() == Failure::Rejected
}
