//! One beat: the node record, the lease, and the view if it moved.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Lineage;
use baton_core::protocol::{BeatReply, BeatRequest, Claim, LeaseIntent, Outcome, Registration};
use mysql_async::Row;

use super::context::CallContext;
use super::error::lease_name;
use super::statement::{Ascii, Statement, Text};
use crate::driver::{BeatServer, DriverError, Record, boot_id};

const LOOK: u64 = 0;
const ACQUIRE: u64 = 1;
const RENEW: u64 = 2;

impl BeatServer for CallContext<'_> {
    /// Carries a beat out, whole or not at all.
    async fn send(&self, beat: &BeatRequest) -> Result<BeatReply, DriverError> {
        let node = &beat.node;
        let profile = serde_json::to_string(&*node.profile).expect("it is plain data");
        let partitions = node.partitions.as_deref().map(serde_json::to_string).transpose();
        let partitions = partitions.expect("it is plain data");
        let call = self
            .procedure("beat_with_partitions")
            .with(Ascii(&node.id))
            .with(Ascii(node.boot))
            .with(node.beat)
            .with(node.eligible)
            .with(node.draining)
            .with(u64::from(node.load))
            .with(node.seen.0)
            .with(Text(&profile))
            .with(partitions.as_deref().map(Text))
            .with(node.profile.lifeline.as_deref().map(Text))
            .with(beat.replaces.map(Ascii))
            .with(beat.is_mere_look())
            .with(beat.known_view.epoch.0)
            .with(beat.known_view.number);
        let row = self.row(with_intent(call, &beat.lease).text()).await?;
        let reply = reply(&row, &lease_name(self.namespace))?;
        self.engine.note_seen(reply.lineage);
        Ok(reply)
    }

    fn note_seen(&self, lineage: Lineage) {
        self.engine.note_seen(lineage);
    }
}

/// What is wanted of the lease, with NULL for what has no part in it.
fn with_intent(call: Statement, intent: &LeaseIntent) -> Statement {
    let (kind, expect, claim, dead, lineage, floor, nonce, ttl) = match intent {
        LeaseIntent::Observe => (LOOK, None, None, None, None, None, None, Duration::ZERO),
        LeaseIntent::Acquire(it) => {
            let (claim, dead) = match it.claim {
                Claim::Vacant => (0, None),
                Claim::Expired => (1, None),
                Claim::Dead { boot } => (2, Some(boot)),
            };
            let (claim, floor) = (Some(claim), Some(it.floor.0));
            (ACQUIRE, it.expect, claim, dead, Some(it.lineage.0), floor, Some(it.nonce), it.ttl)
        }
        LeaseIntent::Renew(it) => {
            let (expect, lineage, nonce) = (Some(it.expect), Some(it.lineage.0), Some(it.nonce));
            (RENEW, expect, None, None, lineage, None, nonce, it.ttl)
        }
    };
    call.with(kind)
        .with(expect.map(|version| version.epoch.0))
        .with(expect.map(|version| Ascii(version.nonce.boot)))
        .with(expect.map(|version| version.nonce.attempt))
        .with(claim)
        .with(dead.map(Ascii))
        .with(lineage)
        .with(floor)
        .with(nonce.map(|nonce| Ascii(nonce.boot)))
        .with(nonce.map(|nonce| nonce.attempt))
        .with(u64::try_from(ttl.as_micros()).unwrap_or(u64::MAX))
}

fn reply(row: &Row, named: &str) -> Result<BeatReply, DriverError> {
    let record = Record::new(row, named);
    let outcome = record.maybe_number("applied")?.map(|applied: u64| match applied {
        0 => Outcome::Conflict,
        _ => Outcome::Applied,
    });
    read(&record, outcome).map_err(|error| match outcome {
        // What was written was written, though the rest of the reply makes no sense.
        Some(Outcome::Applied) => DriverError::unknown(error.into_store_error().to_string()),
        _ => error,
    })
}

fn read(record: &Record<'_, Row>, outcome: Option<Outcome>) -> Result<BeatReply, DriverError> {
    let registration = match record.read("taken_boot", boot_id)? {
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
