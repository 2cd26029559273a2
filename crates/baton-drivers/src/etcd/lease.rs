//! The rule of the lease on what was last seen, which the transaction that follows compares; and
//! the etcd leases that it rests on.
//!
//! # Why one trusted leader (S1)
//!
//! Every acquisition and every renewal has an etcd lease of its own, which etcd keeps for at least
//! the ttl after the beat was sent: one of that length that was granted since, or a longer one that
//! was granted before ([`SpareLease::serves`](super::spare_lease::SpareLease::serves)). One
//! transaction writes the record and the holder key that is attached to that lease. So wherever the
//! attempt's nonce is read, now or later, the holder's window (counted from the send) ends before
//! the holder key's lease. Another node is let in only when the holder key *and* its lease are
//! gone.
//!
//! The obvious way, to keep one etcd lease alive, does not give that. A keepalive is no write: it
//! is answered by the member that believes to be etcd's leader. One that was replaced without
//! noticing prolongs nothing, and an etcd leader that was paused revokes, when it goes on, leases
//! that were kept alive meanwhile (etcd issue 15247). A grant goes through etcd's log like any
//! write, and a leader that knows of it at all knows that it is young.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Ask, LeaseIntent, NodeRecord, Outcome, Release, TermEnd, TermRecord};
use baton_core::time::whole_ms;
use baton_store::StoreError;
use baton_store::clock::{Clock, SystemClock};
use baton_store::lease_rule::{
    self, EpochBounds, Facts, Granted, LastTerm, LeaseRecord, Liveness, UnreleasedEnd,
};

use super::LINEAGE;
use super::context::{CallContext, Plan};
use super::namespace_state::{NamespaceState, unchanged};
use super::records::{LeaseRow, Record};
use super::schema::Keys;
use super::wire::Op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) id: i64,
    pub(super) ttl: Duration,
}

/// etcd grants no more, which is 285 years.
const TTL_MAX_SECONDS: i64 = 9_000_000_000;

pub(super) enum LeaseDecision {
    Look,
    Conflict,
    Begin(Granted),
    GoOn(LeaseRecord),
}

/// Judges what a beat wants. `is_over`: the holder key and its etcd lease are gone.
pub(super) fn decide(
    state: &NamespaceState,
    is_over: bool,
    node: &NodeRecord,
    intent: &LeaseIntent,
) -> LeaseDecision {
    let facts = |has_expired| Facts {
        lineage: LINEAGE,
        has_expired: Some(has_expired),
        holder: &|| Liveness::Unknown,
    };
    let record = state.row().map(|row| &row.record);
    let has_leased_key = state.holder.as_ref().is_some_and(|stored| stored.lease != 0);
    let ruling = match intent {
        LeaseIntent::Observe => return LeaseDecision::Look,
        // The record was deleted of a term whose holder may still trust it.
        LeaseIntent::Acquire(_) if record.is_none() && has_leased_key => None,
        LeaseIntent::Acquire(claim) => {
            let bounds = EpochBounds { born_in: LINEAGE, fence: state.highest_epoch() };
            lease_rule::acquire(record, facts(is_over), bounds, node, claim)
                .map(LeaseDecision::Begin)
        }
        LeaseIntent::Renew(renew) => {
            let renewed = record.and_then(|record| record.renew(facts(!state.is_live()), renew));
            renewed.map(LeaseDecision::GoOn)
        }
    };
    ruling.unwrap_or(LeaseDecision::Conflict)
}

/// The row of a new term, and the last term closed.
pub(super) fn begin(
    last: Option<&LeaseRow>,
    node: &NodeRecord,
    granted: &Granted,
    grant: Grant,
    now_ms: u64,
) -> (LeaseRow, Option<TermRecord>) {
    let last_term = match last.map(|last| last.term.ended) {
        None => LastTerm::None,
        Some(None) => LastTerm::Open,
        Some(Some((at_ms, _))) => LastTerm::Ended(at_ms),
    };
    let unreleased = granted.ends.zip(last).map(|(end, last)| UnreleasedEnd {
        end,
        ended_ms: last_acted_ms(last, now_ms),
        renewed_ms: renewed_ms(last),
    });
    let epoch = granted.record.epoch;
    let change = lease_rule::begin_term(now_ms, epoch, node, last_term, unreleased);
    let closed = last
        .map(|last| TermRecord { ended: last.term.ended.or(change.closes), ..last.term.clone() });
    let row = LeaseRow {
        record: granted.record.clone(),
        lease: grant.id,
        granted: grant.ttl,
        until_ms: now_ms.saturating_add(whole_ms(grant.ttl)),
        term: change.begins,
        number: last.map_or(0, |last| last.number).saturating_add(1),
    };
    (row, closed)
}

/// When the holder could last act, if that ends now: now, or a ttl after its last renewal. etcd may
/// have kept the lease for longer than the ttl, the holder did not count on that.
fn last_acted_ms(row: &LeaseRow, now_ms: u64) -> u64 {
    let trusted_until_ms = renewed_ms(row).saturating_add(whole_ms(row.record.ttl));
    trusted_until_ms.clamp(row.term.began_ms.min(now_ms), now_ms)
}

/// When the holder last renewed the lease, by its own clock.
fn renewed_ms(row: &LeaseRow) -> u64 {
    row.until_ms.saturating_sub(whole_ms(row.granted))
}

/// The row with this record, and another etcd lease.
pub(super) fn with_lease(
    row: &LeaseRow,
    record: &LeaseRecord,
    grant: Grant,
    now_ms: u64,
) -> LeaseRow {
    LeaseRow {
        record: record.clone(),
        lease: grant.id,
        granted: grant.ttl,
        until_ms: now_ms.saturating_add(whole_ms(grant.ttl)),
        ..row.clone()
    }
}

/// The row without a holder, if it is held at the version.
fn released(row: &LeaseRow, release: &Release, now_ms: u64) -> Option<LeaseRow> {
    let record = row.record.release(release)?;
    let mut term = row.term.clone();
    term.ended = Some((last_acted_ms(row, now_ms), TermEnd::Released(release.reason)));
    Some(LeaseRow { record, lease: 0, until_ms: now_ms, term, ..row.clone() })
}

/// The writes of a row that is held: itself, and the holder key with its lease.
pub(super) fn held_writes(keys: &Keys, row: &LeaseRow) -> [Op; 2] {
    let version = row.record.version();
    [Op::put(&keys.lease, row.write()), Op::put_with(&keys.holder, version.write(), row.lease)]
}

const TERMS_KEPT: u64 = 1_000;

/// A term begins: the last one is closed, and the oldest goes.
pub(super) fn begun(keys: &Keys, row: &LeaseRow, last: Option<TermRecord>) -> Vec<Op> {
    let mut writes = vec![closed(keys, row)];
    writes.extend(last.map(|term| Op::put(&keys.term(row.number - 1), term.write())));
    if row.number > TERMS_KEPT {
        writes.push(Op::delete_range(&keys.terms, &keys.term(row.number - TERMS_KEPT + 1)));
    }
    writes
}

/// The record's own term, as it stands.
pub(super) fn closed(keys: &Keys, row: &LeaseRow) -> Op {
    Op::put(&keys.term(row.number), row.term.write())
}

impl CallContext<'_> {
    pub(super) async fn release(&self, release: &Release) -> Result<Outcome, StoreError> {
        self.change(|state| {
            let row = released(state.row()?, release, SystemClock.wall_ms())?;
            let closed = closed(&self.keys, &row);
            Some((row, vec![Op::delete(&self.keys.holder), closed]))
        })
        .await
    }

    pub(super) async fn ask(&self, epoch: Epoch, ask: &Ask) -> Result<Outcome, StoreError> {
        self.change(|state| {
            let row = state.row()?;
            Some((LeaseRow { record: row.record.ask(epoch, ask)?, ..row.clone() }, Vec::new()))
        })
        .await
    }

    async fn change(
        &self,
        next: impl Fn(&NamespaceState) -> Option<(LeaseRow, Vec<Op>)>,
    ) -> Result<Outcome, StoreError> {
        let lease = &self.keys.lease;
        self.carry_out(|state| match next(state) {
            None => Plan::Answer(Outcome::Conflict),
            Some((row, mut writes)) => {
                writes.push(Op::put(lease, row.write()));
                Plan::Write(unchanged(lease, &state.lease), writes, Outcome::Applied)
            }
        })
        .await
    }
}

/// Whole seconds, and never fewer than were asked for. etcd raises what is below its own minimum,
/// some 1.5 times its election timeout.
pub(super) fn whole_seconds(ttl: Duration) -> i64 {
    let more = u64::from(ttl.subsec_nanos() > 0);
    let seconds = i64::try_from(ttl.as_secs().saturating_add(more));
    seconds.unwrap_or(TTL_MAX_SECONDS).clamp(1, TTL_MAX_SECONDS)
}
