//! One request to the store: answered, failed, or given up when its time is over.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Input;
use baton_core::protocol::{Failure, Member, Reply, Request, RequestId};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Answer, Call, StoreError};
use tokio::task::JoinSet;

use super::Message;
use super::unwatched::report_if_unwatched;
use crate::shared::Shared;

/// Asks the store on behalf of the core, and says what came of it.
pub async fn ask_store(
    node: Arc<Shared>,
    id: RequestId,
    request: Request,
    timeout: Duration,
) -> Message {
    let beat = (node.task, id);
    node.events.logs.began(beat, (&node.namespace, &node.id), &request);
    let input = match call_store(&node, Call::Core(request), timeout).await {
        Some(Ok(Answer::Core(reply))) => {
            match &reply {
                Reply::Members(members) => {
                    remember_lifelines(&node, members);
                    if node.is_leader() {
                        report_if_unwatched(&node, members);
                    }
                }
                Reply::Beat(reply) => {
                    let holder = reply.lease.as_ref().and_then(|lease| lease.holder.as_ref());
                    holder.into_iter().for_each(|holder| node.learn_lifeline_of(holder));
                }
                Reply::Done(_) => {}
            }
            Input::Replied { id, reply }
        }
        Some(Ok(other)) => unreachable!("a store answers in kind, and this is not: {other:?}"),
        Some(Err(error)) => {
            node.store_failed(&error);
            Input::Failed { id, failure: error.failure() }
        }
        None => Input::Failed { id, failure: Failure::Unknown },
    };
    node.events.logs.ended(beat, &input);
    Message::Input { node: node.task, input }
}

/// Makes one call, as a task of its own; `None` when its time is over. What was given up may still
/// happen: its outcome is unknown.
pub(crate) async fn call_store(
    node: &Shared,
    call: Call,
    timeout: Duration,
) -> Option<Result<Answer, StoreError>> {
    let mut task = JoinSet::new();
    let (store, namespace) = (node.store.clone(), node.namespace.clone());
    task.spawn(async move { store.call(&namespace, call).await });
    tokio::select! {
        biased;
        Some(answer) = task.join_next() => {
            Some(answer.unwrap_or_else(|_| Err(driver_panicked())))
        }
        () = SystemClock.sleep(timeout) => None,
    }
}

/// A driver's bug must not take the node's thread with it.
fn driver_panicked() -> StoreError {
    StoreError::Unknown { detail: "the store's driver panicked".to_owned() }
}

/// Keeps where the members' lifelines listen, for hints to them.
pub fn remember_lifelines(node: &Shared, members: &[Member]) {
    let address = |member: &Member| {
        let lifeline = member.record.profile.lifeline.clone()?;
        Some((member.record.id.clone(), lifeline))
    };
    node.learn_lifelines(members.iter().filter_map(address).collect());
}
