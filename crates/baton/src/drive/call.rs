//! One request to the store: answered, failed, or given up when its time is over.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Input;
use baton_core::protocol::{Failure, Reply, Request, RequestId};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Answer, Call, StoreError};
use tokio::task::JoinSet;

use super::Message;
use crate::shared::Shared;

pub async fn ask_store(
    shared: Arc<Shared>,
    id: RequestId,
    request: Request,
    timeout: Duration,
) -> Message {
    let beat = (shared.task_id, id);
    shared.events.logs.beat_began(beat, (&shared.namespace, &shared.id), &request);
    let input = match call_store(&shared, Call::Core(request), timeout).await {
        Some(Ok(Answer::Core(reply))) => {
            match &reply {
                Reply::Members(members) => {
                    shared.learn_lifelines(members);
                    if shared.is_leader() {
                        shared.report_if_unwatched(members);
                    }
                }
                Reply::Beat(reply) => {
                    let holder = reply.lease.as_ref().and_then(|lease| lease.holder.as_ref());
                    holder.into_iter().for_each(|holder| shared.learn_lifeline_of(holder));
                }
                Reply::Done(_) => {}
            }
            Input::Replied { id, reply }
        }
        Some(Ok(other)) => unreachable!("a store answers in kind, and this is not: {other:?}"),
        Some(Err(error)) => {
            let failure = error.failure();
            *shared.store_error.lock().expect("no holder panics") = Some(error);
            Input::Failed { id, failure }
        }
        None => Input::Failed { id, failure: Failure::Unknown },
    };
    shared.events.logs.beat_ended(beat, &input);
    Message::Input { task: shared.task_id, input }
}

/// Makes one call, as a task of its own; `None` when its time is over. What was given up may still
/// happen: its outcome is unknown.
pub(crate) async fn call_store(
    shared: &Shared,
    call: Call,
    timeout: Duration,
) -> Option<Result<Answer, StoreError>> {
    let mut task = JoinSet::new();
    let (store, namespace) = (shared.store.clone(), shared.namespace.clone());
    task.spawn(async move { store.call(&namespace, call).await });
    tokio::select! {
        biased;
        Some(answer) = task.join_next() => Some(answer.unwrap_or_else(|_| {
            // A driver's bug must not take the node's thread with it.
            Err(StoreError::Unknown { detail: "the store's driver panicked".to_owned() })
        })),
        () = SystemClock.sleep(timeout) => None,
    }
}
