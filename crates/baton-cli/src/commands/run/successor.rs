//! What happens after the command ended by itself: which node runs it next, for people.

use baton::{Node, NodeId, Store};
use baton_store::clock::{Clock, SystemClock};

use super::runner::{Finished, Job};
use crate::guard::Ending;
use crate::snapshot::{Snapshot, State, gather};

/// What to do instead, for a reader who expected one run in all.
const ONCE: &str = "baton run keeps a command running on one instance at a time; for \
                    work that must be done only once use baton once";

/// Lines that say which node runs the command next. None if no other node waits, if the command
/// did not end by itself, or if the store does not answer within one request's time.
pub async fn announce(
    node: &Node,
    store: &dyn Store,
    job: &Job<'_>,
    finished: Option<&Finished>,
) -> Vec<String> {
    let Some(Finished::Command(ending)) = finished else { return Vec::new() };
    let settings = node.settings();
    let look = gather(store, &job.store, node.namespace(), &settings);
    let seen = tokio::select! {
        seen = look => seen.ok(),
        () = SystemClock.sleep(settings.request_timeout) => None,
    };
    let next = seen.as_ref().and_then(|seen| successor(seen, node.id()));
    next.map_or_else(Vec::new, |next| {
        lines(&job.arguments.command[0].to_string_lossy(), *ending, next)
    })
}

/// The node that leads after this one: the first in line that waits, or else any that waits.
fn successor<'a>(seen: &'a Snapshot, me: &NodeId) -> Option<&'a NodeId> {
    let leads_already = seen.coordinator.as_ref().map(|leader| &leader.node);
    let waits = |id: &&NodeId| {
        let is_candidate = |member: &crate::snapshot::MemberState| {
            member.node == **id && member.state == State::Candidate
        };
        *id != me && seen.members.iter().any(is_candidate)
    };
    let in_line = seen.successors.iter().chain(seen.members.iter().map(|member| &member.node));
    leads_already.filter(|id| *id != me).or_else(|| in_line.into_iter().find(waits))
}

fn lines(program: &str, ending: Ending, next: &NodeId) -> Vec<String> {
    let mut lines =
        vec![format!("{program} {ending}; leadership goes to {next}, which runs it next")];
    if ending == Ending::Code(0) {
        lines.push(ONCE.to_owned());
    }
    lines
}
