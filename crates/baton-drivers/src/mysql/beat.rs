//! One beat: the node record, the lease, and the view if it moved.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Lineage, Namespace, Nonce};
use baton_core::protocol::{
    BeatReply, BeatRequest, Claim, LeaseIntent, Outcome, Registration, Version,
};
use baton_store::StoreError;
use mysql_async::Row;

use super::lease;
use super::row::{Columns, only};
use super::statement::{Statement, Text};

const LOOK: u64 = 0;
const ACQUIRE: u64 = 1;
const RENEW: u64 = 2;

/// The call.
pub(super) fn call(
    prefix: &str,
    namespace: &Namespace,
    seen: Lineage,
    beat: &BeatRequest,
) -> String {
    let node = &beat.node;
    let profile = serde_json::to_string(&*node.profile).expect("it is plain data");
    let call = Statement::call(prefix, "beat")
        .with(namespace)
        .with(seen)
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
    with_intent(call, &beat.lease).text()
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
pub(super) fn reply(rows: &[Row], namespace: &Namespace) -> Result<BeatReply, StoreError> {
    let record = lease::record(namespace);
    let columns = only(rows, &record)?;
    let outcome = columns.maybe_flag("applied")?;
    let outcome = outcome.map(|it| if it { Outcome::Applied } else { Outcome::Conflict });
    let read = read(&columns, outcome);
    match (read, outcome) {
        // What was written was written, though the rest of the reply makes no sense.
        (Err(error), Some(Outcome::Applied)) => {
            Err(StoreError::Unknown { detail: error.to_string() })
        }
        (read, _) => read,
    }
}

fn read(columns: &Columns<'_>, outcome: Option<Outcome>) -> Result<BeatReply, StoreError> {
    let registration = match columns.maybe_boot("taken_boot")? {
        Some(boot) => Registration::TakenBy { boot, beat: columns.number("taken_beat")? },
        None => Registration::Registered,
    };
    Ok(BeatReply {
        registration,
        lease: lease::snapshot(columns)?,
        outcome,
        lineage: Lineage(columns.number("lineage")?),
        view: columns.maybe_json("view_body")?.map(Arc::new),
    })
}
