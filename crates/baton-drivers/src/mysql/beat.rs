//! One beat: the node record, the lease, and the view if it moved.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Lineage, Nonce};
use baton_core::protocol::{
    BeatReply, BeatRequest, Claim, LeaseIntent, Outcome, Registration, Version,
};
use mysql_async::Row;

use super::context::CallContext;
use super::lease;
use super::statement::{Statement, Text};
use crate::driver::{DriverError, Record};

const LOOK: u64 = 0;
const ACQUIRE: u64 = 1;
const RENEW: u64 = 2;

/// Carries a beat out, whole or not at all.
///
/// One round trip. A second one only if the data went back, to begin a new lineage: the first has
/// written nothing then but the node record, as no claim or renewal fits an earlier lease.
pub(super) async fn beat(
    context: &CallContext<'_>,
    beat: &BeatRequest,
) -> Result<BeatReply, DriverError> {
    let leases = &context.engine.leases;
    let before = leases.of(context.namespace);
    let reply = beat_once(context, beat).await?;
    if !before.is_some_and(|seen| seen.is_ahead_of(&reply)) {
        leases.note(context.namespace, &reply);
        return Ok(reply);
    }
    // From now on every call of this handle begins a lineage above the one that is there.
    context.engine.note_seen(Lineage(reply.lineage.0.saturating_add(1)));
    if reply.outcome == Some(Outcome::Applied) {
        return Ok(reply);
    }
    let look = BeatRequest { lease: LeaseIntent::Observe, ..beat.clone() };
    let shown = beat_once(context, &look).await?;
    leases.note(context.namespace, &shown);
    Ok(BeatReply { outcome: reply.outcome, ..shown })
}

async fn beat_once(
    context: &CallContext<'_>,
    beat: &BeatRequest,
) -> Result<BeatReply, DriverError> {
    let node = &beat.node;
    let profile = serde_json::to_string(&*node.profile).expect("it is plain data");
    let call = context
        .procedure("beat")
        .with(&node.id)
        .with(node.boot)
        .with(node.beat)
        .with(node.eligible)
        .with(node.draining)
        .with(u64::from(node.load))
        .with(node.seen)
        .with(Text(&profile))
        .with(node.profile.lifeline.as_deref().map(Text))
        .with(beat.replaces)
        .with(beat.is_mere_look())
        .with(beat.known_view.epoch)
        .with(beat.known_view.number);
    let row = context.row(with_intent(call, &beat.lease).text()).await?;
    let reply = reply(&row, &lease::record(context.namespace))?;
    context.engine.note_seen(reply.lineage);
    Ok(reply)
}

fn with_intent(call: Statement, intent: &LeaseIntent) -> Statement {
    let none = None::<u64>;
    match intent {
        LeaseIntent::Observe => {
            let call = with_version(call.with(LOOK), None).with(none).with(none);
            with_write(call.with(none).with(none), None, Duration::ZERO)
        }
        LeaseIntent::Acquire(grant) => {
            let (claim, dead) = match grant.claim {
                Claim::Vacant => (0, None),
                Claim::Expired => (1, None),
                Claim::Dead { boot } => (2, Some(boot)),
            };
            let call = with_version(call.with(ACQUIRE), grant.expect).with(claim).with(dead);
            with_write(call.with(grant.lineage).with(grant.floor), Some(grant.nonce), grant.ttl)
        }
        LeaseIntent::Renew(renew) => {
            let call = with_version(call.with(RENEW), Some(renew.expect)).with(none).with(none);
            with_write(call.with(renew.lineage).with(none), Some(renew.nonce), renew.ttl)
        }
    }
}

fn with_version(call: Statement, version: Option<Version>) -> Statement {
    let nonce = version.map(|version| version.nonce);
    call.with(version.map(|version| version.epoch))
        .with(nonce.map(|nonce| nonce.boot))
        .with(nonce.map(|nonce| nonce.attempt))
}

fn with_write(call: Statement, nonce: Option<Nonce>, ttl: Duration) -> Statement {
    let ttl = u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX);
    call.with(nonce.map(|nonce| nonce.boot)).with(nonce.map(|nonce| nonce.attempt)).with(ttl)
}

/// The reply.
fn reply(row: &Row, named: &str) -> Result<BeatReply, DriverError> {
    let record = Record::new(row, named);
    let outcome = record.maybe_flag("applied")?;
    let outcome = outcome.map(|it| if it { Outcome::Applied } else { Outcome::Conflict });
    let read = read(&record, outcome);
    match (read, outcome) {
        // What was written was written, though the rest of the reply makes no sense.
        (Err(error), Some(Outcome::Applied)) => {
            Err(DriverError::unknown(error.into_store_error().to_string()))
        }
        (read, _) => read,
    }
}

fn read(record: &Record<'_, Row>, outcome: Option<Outcome>) -> Result<BeatReply, DriverError> {
    let registration = match record.maybe_boot("taken_boot")? {
        Some(boot) => Registration::TakenBy { boot, beat: record.number("taken_beat")? },
        None => Registration::Registered,
    };
    Ok(BeatReply {
        registration,
        lease: record.lease()?,
        outcome,
        lineage: Lineage(record.number("lineage")?),
        view: record.maybe_json("view_body")?.map(Arc::new),
    })
}
