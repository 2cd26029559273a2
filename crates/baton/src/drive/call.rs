//! One request to the store: answered, failed, or given up when its time is over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use baton_core::protocol::{Failure, Member, Reply, Request, RequestId};
use baton_core::{Event, Input, LateNotice};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Answer, Call, Capability, StoreError};
use tokio::task::JoinSet;

use super::Message;
use crate::lifeline::{late_notice, noticed_without, watchers};
use crate::shared::Shared;

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
                    node.learn_lifelines(members);
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
            let failure = error.failure();
            *node.store_error.lock().expect("no holder panics") = Some(error);
            Input::Failed { id, failure }
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
        Some(answer) = task.join_next() => Some(answer.unwrap_or_else(|_| {
            // A driver's bug must not take the node's thread with it.
            Err(StoreError::Unknown { detail: "the store's driver panicked".to_owned() })
        })),
        () = SystemClock.sleep(timeout) => None,
    }
}

/// Says when no other node would prove this one dead, so that its crash would be noticed late, by
/// the records as the leader just read them. Reported once, and again only after it was
/// otherwise in between.
pub(crate) fn report_if_unwatched(node: &Shared, members: &[Member]) {
    let notice = notice(node, members);
    let was_reported = node.is_unwatched.swap(notice.is_some(), Ordering::Relaxed);
    if let Some(notice) = notice.filter(|_| !was_reported) {
        node.events.send(Event::LifelineUnwatched(notice));
    }
}

fn notice(node: &Shared, members: &[Member]) -> Option<LateNotice> {
    let (settings, snapshot) = (&*node.settings, node.snapshot());
    if !settings.enabled || !settings.eligible {
        return None;
    }
    let watchers = watchers(Some(node.boot), members, snapshot.view.as_deref(), settings);
    let after = noticed_without(settings, node.store.declaration().has(Capability::DeathProof));
    // Where the store is, this node does not know.
    late_notice(node.profile.lifeline.as_deref(), &watchers, false, after)
}
