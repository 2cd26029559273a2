//! One request to the store: answered, failed, or given up when its time is over.

use std::sync::Arc;
use std::time::Duration;

use baton_core::Input;
use baton_core::protocol::{Failure, Member, Reply, Request, RequestId};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::{Answer, Call, perform};

use super::Message;
use crate::shared::Shared;

/// Makes the call. What was given up may still happen: its outcome is unknown.
pub async fn ask_store(
    node: Arc<Shared>,
    id: RequestId,
    request: Request,
    timeout: Duration,
) -> Message {
    let answer = tokio::select! {
        biased;
        answer = perform(&*node.store, &node.namespace, Call::Core(request)) => answer,
        () = SystemClock.sleep(timeout) => {
            let input = Input::Failed { id, failure: Failure::Unknown };
            return Message::Input { seat: node.seat, input };
        }
    };
    let input = match answer {
        Ok(Answer::Core(reply)) => {
            if let Reply::Members(members) = &reply {
                remember_lifelines(&node, members);
            }
            Input::Replied { id, reply }
        }
        Ok(other) => unreachable!("a store answers in kind, and this is not: {other:?}"),
        Err(error) => {
            node.troubled_by(&error);
            Input::Failed { id, failure: error.failure() }
        }
    };
    Message::Input { seat: node.seat, input }
}

/// Keeps where the members' lifelines listen, for hints to them.
pub fn remember_lifelines(node: &Shared, members: &[Member]) {
    let address = |member: &Member| {
        let lifeline = member.record.profile.lifeline.clone()?;
        Some((member.record.id.clone(), lifeline))
    };
    node.learn_lifelines(members.iter().filter_map(address).collect());
}
