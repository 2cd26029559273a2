//! Hints, in and out: the store's own push, where it has one, and the other nodes' lifelines.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::NodeId;
use baton_core::protocol::Hint;
use baton_store::Capability;
use baton_store::clock::{Clock, SystemClock};

use super::Message;
use crate::lifeline;
use crate::shared::Shared;
use crate::term::Hold;

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
                node.inbox.hint(node.task, &hint);
            }
        }
        SystemClock.sleep(AGAIN_AFTER).await;
    }
}

/// Passes a hint to another node over its lifeline. It may be lost: the other looks at the store
/// all the same, later.
pub async fn pass_on(node: Arc<Shared>, to: NodeId, hint: Hint) -> Message {
    let was_sent = send(&node, &to, &hint).await;
    // The node that is to lead may have been restarted since the members were last read; for any
    // other hint a look at the store is not worth its while.
    if !was_sent
        && matches!(hint, Hint::Released { .. })
        && let Ok(members) = node.store.members(&node.namespace).await
    {
        node.learn_lifelines(&members);
        send(&node, &to, &hint).await;
    }
    Message::HintSent { node: node.task }
}

async fn send(node: &Shared, to: &NodeId, hint: &Hint) -> bool {
    let Some(address) = node.lifeline_of(to) else { return false };
    lifeline::send_hint(&address, &node.namespace, hint).await.is_ok()
}

/// Lets the node that is to lead prepare. The term is held until that node has taken it in, so that
/// the lease is not released before; though not for long, for the term must stop in time.
pub async fn forewarn(node: Arc<Shared>, to: NodeId, hint: Hint, hold: Option<Hold>) -> Message {
    if let Some(address) = node.lifeline_of(&to) {
        tokio::select! {
            biased;
            _ = lifeline::send_and_wait(&address, &node.namespace, &hint) => {}
            () = SystemClock.sleep(node.settings.stop_grace / 8) => {}
        }
    }
    drop(hold);
    Message::HintSent { node: node.task }
}
