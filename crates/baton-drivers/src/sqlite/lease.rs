//! The lease: the rule that all stores share, between reading the row and writing it.

use baton_core::ids::Epoch;
use baton_core::protocol::{Acquire, Ask, NodeRecord, Outcome, Release, Renew, TermEnd};
use baton_core::time::whole_ms;
use baton_store::lease_rule::{self, Below, Facts, LeaseRecord, Life, Unreleased};

use super::context::{CallContext, Space};
use super::history;
use super::lease_row::LeaseRow;
use crate::driver::DriverError;

/// What holds now for a lease whose holder lives or not, as `life` says.
fn facts<'a>(
    context: &CallContext<'_>,
    row: Option<&LeaseRow>,
    life: &'a dyn Fn() -> Life,
) -> Facts<'a> {
    let has_expired = row.map(|row| row.has_expired(context));
    Facts { lineage: context.lineage, has_expired, holder: life }
}

/// Begins a new term, if the claim holds.
pub(super) fn acquire(
    context: &CallContext<'_>,
    space: Space,
    lease: &mut Option<LeaseRow>,
    node: &NodeRecord,
    grant: &Acquire,
) -> Result<Outcome, DriverError> {
    let row = lease.as_ref();
    let life = || row.map_or(Life::Unknown, |row| row.holder_life(context));
    let below = Below { born_in: space.born_in, fence: space.fence };
    let record = row.map(|row| &row.record);
    let facts = facts(context, row, &life);
    let Some(granted) = lease_rule::acquire(record, facts, below, node, grant) else {
        return Ok(Outcome::Conflict);
    };
    let last = granted.ends.zip(row).map(|(end, row)| unreleased(context, row, end));
    history::begin(context, granted.record.epoch, node, last)?;
    *lease = Some(LeaseRow::put(context, granted.record, context.at.now + grant.ttl)?);
    Ok(Outcome::Applied)
}

/// The end of a term that another process's claim ends: its holder could act until the claim, or
/// until its lease ran out, and is only known to have acted until it last renewed it.
fn unreleased(context: &CallContext<'_>, row: &LeaseRow, end: TermEnd) -> Unreleased {
    let now_ms = context.at.wall_ms;
    let renewed_ms = if row.is_from_before_the_boot(context) {
        row.updated_ms.min(now_ms)
    } else {
        now_ms.saturating_sub(whole_ms(context.at.now.since(row.expires_at - row.record.ttl)))
    };
    Unreleased { end, ended_ms: last_acted_ms(context, row), renewed_ms }
}

/// When the holder could last act, if that ends now: now, or when the lease ran out.
fn last_acted_ms(context: &CallContext<'_>, row: &LeaseRow) -> u64 {
    let now_ms = context.at.wall_ms;
    if row.is_from_before_the_boot(context) {
        // The clock that the expiry was set by is gone; what people's clock said is left.
        return row.updated_ms.saturating_add(whole_ms(row.record.ttl)).min(now_ms);
    }
    now_ms.saturating_sub(whole_ms(context.at.now.since(row.expires_at)))
}

/// Goes on with a term.
pub(super) fn renew(
    context: &CallContext<'_>,
    lease: &mut Option<LeaseRow>,
    renew: &Renew,
) -> Result<Outcome, DriverError> {
    let facts = facts(context, lease.as_ref(), &|| Life::Unknown);
    let Some(record) = lease.as_ref().and_then(|row| row.record.renew(facts, renew)) else {
        return Ok(Outcome::Conflict);
    };
    *lease = Some(LeaseRow::put(context, record, context.at.now + renew.ttl)?);
    Ok(Outcome::Applied)
}

/// The row of the namespace, and the record that a rule makes of it; `None` if the rule refuses.
fn changed(
    context: &CallContext<'_>,
    rule: impl FnOnce(&LeaseRecord) -> Option<LeaseRecord>,
) -> Result<Option<(LeaseRow, LeaseRecord)>, DriverError> {
    let row = LeaseRow::read(context)?;
    Ok(row.and_then(|row| rule(&row.record).map(|record| (row, record))))
}

/// Clears the holder and keeps everything else.
pub(super) fn release(
    context: &CallContext<'_>,
    release: &Release,
) -> Result<Outcome, DriverError> {
    let Some((row, record)) = changed(context, |record| record.release(release))? else {
        return Ok(Outcome::Conflict);
    };
    let end = TermEnd::Released(release.reason);
    history::end(context, record.epoch, last_acted_ms(context, &row), end)?;
    LeaseRow::put(context, record, context.at.now)?;
    Ok(Outcome::Applied)
}

/// Leaves a request beside the lease.
pub(super) fn ask(
    context: &CallContext<'_>,
    epoch: Epoch,
    ask: &Ask,
) -> Result<Outcome, DriverError> {
    let Some((row, record)) = changed(context, |record| record.ask(epoch, ask))? else {
        return Ok(Outcome::Conflict);
    };
    LeaseRow { record, ..row }.write(context)?;
    Ok(Outcome::Applied)
}
