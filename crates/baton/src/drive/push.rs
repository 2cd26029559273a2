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
pub async fn forward_hints(shared: Arc<Shared>) {
    if !shared.store.declaration().has(Capability::Push) {
        return;
    }
    loop {
        if let Ok(mut hints) = shared.store.hints(&shared.namespace).await {
            while let Some(hint) = hints.recv().await {
                shared.inbox.hint(shared.task_id, &hint);
            }
        }
        SystemClock.sleep(AGAIN_AFTER).await;
    }
}

/// Passes a hint to another node over its lifeline. It may be lost: the other looks at the store
/// all the same, later.
pub async fn pass_on(shared: Arc<Shared>, to: NodeId, hint: Hint) -> Message {
    let was_sent = send(&shared, &to, &hint).await;
    // The node that is to lead may have been restarted since the members were last read; for any
    // other hint a look at the store is not worth its while.
    if !was_sent
        && matches!(hint, Hint::Released { .. })
        && let Ok(members) = shared.store.members(&shared.namespace).await
    {
        shared.learn_lifelines(&members);
        send(&shared, &to, &hint).await;
    }
    Message::HintSent { task: shared.task_id }
}

async fn send(shared: &Shared, to: &NodeId, hint: &Hint) -> bool {
    let Some(address) = shared.lifeline_of(to) else { return false };
    lifeline::send_hint(&address, &shared.namespace, hint).await.is_ok()
}

/// Lets the node that is to lead prepare. The term is held until that node has taken it in, so that
/// the lease is not released before; though not for long, for the term must stop in time.
pub async fn forewarn(shared: Arc<Shared>, to: NodeId, hint: Hint, hold: Option<Hold>) -> Message {
    if let Some(address) = shared.lifeline_of(&to) {
        tokio::select! {
            biased;
            _ = lifeline::send_and_wait(&address, &shared.namespace, &hint) => {}
            () = SystemClock.sleep(shared.settings.stop_grace / 8) => {}
        }
    }
    drop(hold);
    Message::HintSent { task: shared.task_id }
}
