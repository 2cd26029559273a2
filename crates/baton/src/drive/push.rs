//! The store's own push, where it has one: hints from it reach the core like any other.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Input;
use baton_store::Capability;
use baton_store::clock::{Clock, SystemClock};

use super::Message;
use crate::shared::Shared;

/// Waited before a lost subscription is asked for again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Forwards hints for as long as the node lasts. Without hints everything works, only slower.
pub async fn forward_hints(node: Arc<Shared>) {
    if !node.store.declaration().has(Capability::Push) {
        return;
    }
    loop {
        if let Ok(mut hints) = node.store.hints(&node.namespace).await {
            while let Some(hint) = hints.recv().await {
                let message = Message::Input { seat: node.seat, input: Input::Hint(hint) };
                if node.inbox.send(message).is_err() {
                    return;
                }
            }
        }
        SystemClock.sleep(AGAIN_AFTER).await;
    }
}
