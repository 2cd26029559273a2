//! The rules of the lease, as the memory store has them.

use std::sync::Arc;

use baton_core::ids::Epoch;
use baton_core::protocol::{
    Acquire, Ask, Claim, Holder, NodeRecord, Outcome, Release, Renew, TermEnd, Version,
};
use baton_core::time::whole_ms;

use super::context::{CallContext, Space};
use super::history::{self, Unreleased};
use super::lease_row::LeaseRow;
use crate::driver::DriverError;

/// How the last term ended, for a claim that holds.
struct Ended(Option<TermEnd>);

/// Begins a new term, if the claim holds.
pub(super) fn acquire(
    context: &CallContext<'_>,
    space: Space,
    lease: &mut Option<LeaseRow>,
    node: &NodeRecord,
    grant: &Acquire,
) -> Result<Outcome, DriverError> {
    let Some(Ended(end)) = claim_holds(context, lease.as_ref(), grant) else {
        return Ok(Outcome::Conflict);
    };
    let epoch = next_epoch(context, space, lease.as_ref(), grant.floor);
    let last = end.zip(lease.as_ref()).map(|(end, row)| unreleased(context, row, end));
    history::begin(context, epoch, node, last)?;
    let lifeline = node.profile.lifeline.clone();
    let granted = LeaseRow {
        version: Version { epoch, nonce: grant.nonce },
        holder: Some(Holder { node: node.id.clone(), boot: node.boot, lifeline }),
        successor: None,
        ttl: grant.ttl,
        expires_at: context.at.now + grant.ttl,
        machine: Arc::clone(&context.machine.boot),
        written_in: context.lineage,
        granted_in: context.lineage,
        asked: None,
        updated_ms: context.at.wall_ms,
    };
    granted.write(context)?;
    *lease = Some(granted);
    Ok(Outcome::Applied)
}

/// Above all that was granted or written in here, all that the claimant has seen, and all that may
/// have been granted and lost: a leap for each lineage since the last grant.
fn next_epoch(
    context: &CallContext<'_>,
    space: Space,
    lease: Option<&LeaseRow>,
    floor: Epoch,
) -> Epoch {
    let granted = lease.map(|row| (row.version.epoch, row.granted_in));
    let (stored, granted_in) = granted.unwrap_or((Epoch::NONE, space.born_in));
    let passed = context.lineage.0.saturating_sub(granted_in.0);
    let leapt = Epoch(stored.0.saturating_add(passed.saturating_mul(Epoch::LEAP)));
    leapt.max(floor).max(space.fence).next()
}

/// The end of a term that another process's claim ends: its holder could act until the claim, or
/// until its lease ran out, and is only known to have acted until it last renewed it.
fn unreleased(context: &CallContext<'_>, row: &LeaseRow, end: TermEnd) -> Unreleased {
    let now_ms = context.at.wall_ms;
    let renewed_ms = if row.is_from_before_the_boot(context) {
        row.updated_ms.min(now_ms)
    } else {
        now_ms.saturating_sub(whole_ms(context.at.now.since(row.expires_at - row.ttl)))
    };
    Unreleased { end, ended_ms: last_acted_ms(context, row), renewed_ms }
}

/// When the holder could last act, if that ends now: now, or when the lease ran out.
fn last_acted_ms(context: &CallContext<'_>, row: &LeaseRow) -> u64 {
    let now_ms = context.at.wall_ms;
    if row.is_from_before_the_boot(context) {
        // The clock that the expiry was set by is gone; what people's clock said is left.
        return row.updated_ms.saturating_add(whole_ms(row.ttl)).min(now_ms);
    }
    now_ms.saturating_sub(whole_ms(context.at.now.since(row.expires_at)))
}

fn claim_holds(
    context: &CallContext<'_>,
    lease: Option<&LeaseRow>,
    grant: &Acquire,
) -> Option<Ended> {
    if grant.lineage != context.lineage {
        return None;
    }
    let Some(row) = lease else {
        let first = grant.expect.is_none() && grant.claim == Claim::Vacant;
        return first.then_some(Ended(None));
    };
    if grant.expect != Some(row.version) {
        return None;
    }
    match (grant.claim, &row.holder) {
        (Claim::Vacant, None) => Some(Ended(None)),
        (Claim::Expired, Some(_)) if row.has_expired(context) => {
            Some(Ended(Some(TermEnd::Expired)))
        }
        (Claim::Expired, Some(_)) => {
            row.holder_is_dead(context).then_some(Ended(Some(TermEnd::ProvedDead)))
        }
        (Claim::Dead { boot }, Some(holder)) if holder.boot == boot => {
            let lives = context.is_alive(boot, &row.machine);
            (!lives).then_some(Ended(Some(TermEnd::ProvedDead)))
        }
        _ => None,
    }
}

/// Goes on with a term.
pub(super) fn renew(
    context: &CallContext<'_>,
    lease: &mut Option<LeaseRow>,
    renew: &Renew,
) -> Result<Outcome, DriverError> {
    let goes_on = |row: &&mut LeaseRow| {
        row.version == renew.expect && row.holder.is_some() && !row.has_expired(context)
    };
    let Some(row) = lease.as_mut().filter(goes_on).filter(|_| renew.lineage == context.lineage)
    else {
        return Ok(Outcome::Conflict);
    };
    row.version.nonce = renew.nonce;
    row.ttl = renew.ttl;
    row.expires_at = context.at.now + renew.ttl;
    row.written_in = renew.lineage;
    row.updated_ms = context.at.wall_ms;
    row.write(context)?;
    Ok(Outcome::Applied)
}

/// Clears the holder and keeps everything else.
pub(super) fn release(
    context: &CallContext<'_>,
    release: &Release,
) -> Result<Outcome, DriverError> {
    let held = |row: &LeaseRow| row.version == release.expect && row.holder.is_some();
    let Some(mut row) = LeaseRow::read(context)?.filter(held) else {
        return Ok(Outcome::Conflict);
    };
    let ended_ms = last_acted_ms(context, &row);
    row.holder = None;
    row.version.nonce = release.nonce;
    row.successor = release.successor.clone();
    row.expires_at = context.at.now;
    row.machine = Arc::clone(&context.machine.boot);
    row.asked = None;
    row.updated_ms = context.at.wall_ms;
    row.write(context)?;
    history::end(context, row.version.epoch, ended_ms, TermEnd::Released(release.reason))?;
    Ok(Outcome::Applied)
}

/// Leaves a request beside the lease.
pub(super) fn ask(
    context: &CallContext<'_>,
    epoch: Epoch,
    ask: &Ask,
) -> Result<Outcome, DriverError> {
    let held = |row: &LeaseRow| row.version.epoch == epoch && row.holder.is_some();
    let Some(mut row) = LeaseRow::read(context)?.filter(held) else {
        return Ok(Outcome::Conflict);
    };
    row.asked = Some(ask.clone());
    row.write(context)?;
    Ok(Outcome::Applied)
}
