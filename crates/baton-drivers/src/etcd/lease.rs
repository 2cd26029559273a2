//! The rules of the lease, judged on what was last seen; the transaction that follows compares it.
//!
//! # Why one trusted leader (S1)
//!
//! Every acquisition and every renewal has an etcd lease of its own, which etcd keeps for at least
//! the ttl after the beat was sent: one of that length that was granted since, or a longer one that
//! was granted before ([`Spare::serves`](super::spare::Spare::serves)). One transaction writes the
//! record and the holder key that is attached to that lease. So wherever the attempt's nonce is read,
//! now or later, the holder's window (counted from the send) ends before the holder key's lease.
//! Another node is let in only when the holder key *and* its lease are gone.
//!
//! The obvious way, to keep one etcd lease alive, does not give that. A keepalive is no write: it
//! is answered by the member that believes to be etcd's leader. One that was replaced without
//! noticing prolongs nothing, and an etcd leader that was paused revokes, when it goes on, leases that were
//! kept alive meanwhile (etcd issue 15247). A grant goes through etcd's log like any write, and a
//! leader that knows of it at all knows that it is young.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{
    Acquire, Ask, Claim, Holder, NodeRecord, Outcome, Release, Renew, TermEnd, TermRecord,
};
use baton_core::time::whole_ms;
use baton_store::StoreError;

use super::context::{CallContext, Plan};
use super::history;
use super::namespace_state::{NamespaceState, unchanged};
use super::record::{HolderKey, LeaseRow, Record};
use super::schema::Keys;
use super::wire::Op;

/// An etcd lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) id: i64,
    pub(super) ttl: Duration,
}

/// etcd grants no more, which is 285 years.
const TTL_MAX_SECONDS: i64 = 9_000_000_000;

/// When a call happens, for the history: by this machine's wall clock, as etcd has none to ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct WallMs(pub(super) u64);

/// How the last term ends if the claim holds; `None` if it does not hold. `is_over`: the holder key
/// and its etcd lease are gone.
pub(super) fn claim_holds(
    state: &NamespaceState,
    is_over: bool,
    grant: &Acquire,
) -> Option<Option<TermEnd>> {
    if grant.lineage != super::LINEAGE {
        return None;
    }
    let Some(row) = state.row() else {
        // The record was deleted of a term whose holder may still trust it.
        let in_use = state.holder.as_ref().is_some_and(|key| key.lease != 0);
        let vacant = grant.expect.is_none() && grant.claim == Claim::Vacant && !in_use;
        return vacant.then_some(None);
    };
    if grant.expect != Some(row.version()) {
        return None;
    }
    match (grant.claim, &row.holder) {
        (Claim::Vacant, None) => Some(None),
        (Claim::Expired, Some(_)) if is_over => Some(Some(TermEnd::Expired)),
        (Claim::Dead { boot }, Some(holder)) if holder.boot == boot => {
            Some(Some(TermEnd::ProvedDead))
        }
        _ => None,
    }
}

/// May the term go on?
pub(super) fn renewal_holds(state: &NamespaceState, renew: &Renew) -> bool {
    let at_version = state.held().is_some_and(|row| row.version() == renew.expect);
    at_version && renew.lineage == super::LINEAGE && state.is_live()
}

/// The record of a new term.
pub(super) fn begin(
    state: &NamespaceState,
    node: &NodeRecord,
    wanted: &Acquire,
    last_end: Option<TermEnd>,
    grant: Grant,
    at: WallMs,
) -> LeaseRow {
    let epoch: Epoch = state.highest_epoch().max(wanted.floor).next();
    let last = state.row().map(|row| ended(row, last_end, at));
    let ended_ms = last.and_then(|term| term.ended).map(|(at, _)| at);
    let since = |then_ms: u64| at.0.saturating_sub(then_ms);
    let unreleased = state.row().filter(|row| last_end.is_some() && row.term.ended.is_none());
    let (boot, id) = (node.boot, node.id.clone());
    LeaseRow {
        epoch,
        nonce: wanted.nonce,
        holder: Some(Holder { node: id.clone(), boot, lifeline: node.profile.lifeline.clone() }),
        successor: None,
        ttl: wanted.ttl,
        lease: grant.id,
        granted: grant.ttl,
        until_ms: at.0.saturating_add(whole_ms(grant.ttl)),
        asked: None,
        term: TermRecord {
            epoch,
            node: id,
            boot,
            began_ms: at.0,
            ended: None,
            gap_ms: ended_ms.map(since),
            gap_at_most_ms: unreleased.map(|row| since(renewed_ms(row))),
        },
        number: state.row().map_or(0, |row| row.number).saturating_add(1),
    }
}

/// The last term, closed if it was still open.
pub(super) fn ended(row: &LeaseRow, end: Option<TermEnd>, at: WallMs) -> TermRecord {
    let mut term = row.term.clone();
    if let (None, Some(end)) = (term.ended, end) {
        term.ended = Some((last_acted_ms(row, at), end));
    }
    term
}

/// When the holder could last act, if that ends now: now, or a ttl after its last renewal. etcd may
/// have kept the lease for longer than the ttl, the holder did not count on that.
fn last_acted_ms(row: &LeaseRow, at: WallMs) -> u64 {
    let trusted_until_ms = renewed_ms(row).saturating_add(whole_ms(row.ttl));
    trusted_until_ms.clamp(row.term.began_ms.min(at.0), at.0)
}

/// When the holder last renewed the lease, by its own clock.
fn renewed_ms(row: &LeaseRow) -> u64 {
    row.until_ms.saturating_sub(whole_ms(row.granted))
}

/// The record of a term that goes on.
pub(super) fn renewed(row: &LeaseRow, renew: &Renew, grant: Grant, at: WallMs) -> LeaseRow {
    let row = with_lease(row, grant, at);
    LeaseRow { nonce: renew.nonce, ttl: renew.ttl, ..row }
}

/// The same record, with another lease.
pub(super) fn with_lease(row: &LeaseRow, grant: Grant, at: WallMs) -> LeaseRow {
    LeaseRow {
        lease: grant.id,
        granted: grant.ttl,
        until_ms: at.0.saturating_add(whole_ms(grant.ttl)),
        ..row.clone()
    }
}

/// The record without a holder, if it is held at the version.
pub(super) fn released(state: &NamespaceState, release: &Release, at: WallMs) -> Option<LeaseRow> {
    let row = state.held().filter(|row| row.version() == release.expect)?;
    let mut term = row.term.clone();
    term.ended = Some((last_acted_ms(row, at), TermEnd::Released(release.reason)));
    Some(LeaseRow {
        nonce: release.nonce,
        holder: None,
        successor: release.successor.clone(),
        lease: 0,
        until_ms: at.0,
        asked: None,
        term,
        ..row.clone()
    })
}

/// The record with a request beside it, if this term is held.
pub(super) fn asked(state: &NamespaceState, epoch: Epoch, ask: Ask) -> Option<LeaseRow> {
    let row = state.held().filter(|row| row.epoch == epoch)?;
    Some(LeaseRow { asked: Some(ask), ..row.clone() })
}

/// The writes of a record that is held: itself, and the holder key with its lease.
pub(super) fn held_writes(keys: &Keys, row: &LeaseRow) -> [Op; 2] {
    let key = HolderKey { epoch: row.epoch, nonce: row.nonce };
    [Op::put(&keys.lease(), row.write()), Op::put_with(&keys.holder(), key.write(), row.lease)]
}

impl CallContext<'_> {
    /// Gives the lease up.
    pub(super) async fn release(&self, release: &Release) -> Result<Outcome, StoreError> {
        self.change(|state| {
            let row = released(state, release, self.wall())?;
            let closed = history::closed(self.keys(), &row);
            Some((row, vec![Op::delete(&self.keys().holder()), closed]))
        })
        .await
    }

    /// Leaves a request beside the lease.
    pub(super) async fn ask(&self, epoch: Epoch, ask: &Ask) -> Result<Outcome, StoreError> {
        self.change(|state| Some((asked(state, epoch, ask.clone())?, Vec::new()))).await
    }

    /// Changes the record, if there is something to change.
    async fn change(
        &self,
        next: impl Fn(&NamespaceState) -> Option<(LeaseRow, Vec<Op>)>,
    ) -> Result<Outcome, StoreError> {
        let lease = self.keys().lease();
        self.carry_out(|state| match next(state) {
            None => Plan::Answer(Outcome::Conflict),
            Some((row, mut writes)) => {
                writes.push(Op::put(&lease, row.write()));
                Plan::Write(unchanged(&lease, &state.lease), writes, Outcome::Applied)
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
