//! One beat: a script, a round trip.

use baton_core::ids::Namespace;
use baton_core::protocol::{BeatReply, BeatRequest, Registration};
use baton_store::StoreError;

use super::lease::{boot_id, push_intent, snapshot};
use super::reply::Pieces;
use super::script::Arguments;

/// A beat, as the script expects it.
pub(super) fn push(arguments: &mut Arguments, beat: &BeatRequest) {
    let node = &beat.node;
    arguments.push(node.id.as_str());
    arguments.push(node.boot.to_string());
    arguments.number(node.beat);
    arguments.push(serde_json::to_vec(node).expect("a record is plain data"));
    arguments.maybe(beat.replaces.map(|boot| boot.to_string()));
    arguments.number(beat.known_view.epoch.0);
    arguments.number(beat.known_view.number);
    push_intent(arguments, &beat.lease, node.profile.lifeline.as_deref());
}

/// What the script answered, and the time by the server's clock, in microseconds.
pub(super) fn reply(
    namespace: &Namespace,
    mut pieces: Pieces,
) -> Result<(BeatReply, u64), StoreError> {
    let lineage = pieces.lineage()?;
    let now_us = pieces.parsed()?;
    let outcome = pieces.maybe_outcome()?;
    let registration = match (pieces.maybe_text()?, pieces.maybe_text()?) {
        (Some(boot), Some(beat)) => Registration::TakenBy {
            boot: boot_id(&boot).ok_or_else(|| pieces.strange("the boot that stands"))?,
            beat: beat.parse().map_err(|_| pieces.strange("the beat that stands"))?,
        },
        _ => Registration::Registered,
    };
    let view = pieces.maybe_text()?.map(|body| serde_json::from_str(&body)).transpose();
    let view = view.map_err(|problem| spoilt_view(namespace, &problem))?;
    let lease = snapshot(namespace, now_us, pieces.pairs()?)?;
    Ok((BeatReply { registration, lease, outcome, lineage, view }, now_us))
}

/// A view that is not one of ours.
pub(super) fn spoilt_view(namespace: &Namespace, problem: &serde_json::Error) -> StoreError {
    let record = format!("the view of namespace {namespace}");
    StoreError::Corrupt { record, detail: problem.to_string() }
}
