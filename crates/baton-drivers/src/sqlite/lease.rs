//! The lease: the rule that all stores share, between reading the row and writing it.

use baton_core::ids::Epoch;
use baton_core::protocol::{Acquire, Ask, NodeRecord, Outcome, Release, Renew, TermEnd};
use baton_core::time::whole_ms;
use baton_store::lease_rule::{self, Below, Facts, LeaseRecord, Life, Unreleased};

use super::context::{CallContext, Space};
use super::lease_row::LeaseRow;
use crate::driver::DriverError;

impl CallContext<'_> {
    /// What holds now for a lease whose holder lives or not, as `life` says.
    fn facts<'a>(&self, row: Option<&LeaseRow>, life: &'a dyn Fn() -> Life) -> Facts<'a> {
        let has_expired = row.map(|row| row.has_expired(self));
        Facts { lineage: self.lineage, has_expired, holder: life }
    }

    /// Begins a new term, if the claim holds.
    pub(super) fn acquire(
        &self,
        space: Space,
        lease: &mut Option<LeaseRow>,
        node: &NodeRecord,
        grant: &Acquire,
    ) -> Result<Outcome, DriverError> {
        let row = lease.as_ref();
        let life = || row.map_or(Life::Unknown, |row| row.holder_life(self));
        let below = Below { born_in: space.born_in, fence: space.fence };
        let record = row.map(|row| &row.record);
        let facts = self.facts(row, &life);
        let Some(granted) = lease_rule::acquire(record, facts, below, node, grant) else {
            return Ok(Outcome::Conflict);
        };
        let last = granted.ends.zip(row).map(|(end, row)| row.unreleased(self, end));
        self.begin_term(granted.record.epoch, node, last)?;
        *lease = Some(LeaseRow::put(self, granted.record, self.at.now + grant.ttl)?);
        Ok(Outcome::Applied)
    }

    /// Goes on with a term.
    pub(super) fn renew(
        &self,
        lease: &mut Option<LeaseRow>,
        renew: &Renew,
    ) -> Result<Outcome, DriverError> {
        let facts = self.facts(lease.as_ref(), &|| Life::Unknown);
        let Some(record) = lease.as_ref().and_then(|row| row.record.renew(facts, renew)) else {
            return Ok(Outcome::Conflict);
        };
        *lease = Some(LeaseRow::put(self, record, self.at.now + renew.ttl)?);
        Ok(Outcome::Applied)
    }

    /// Clears the holder and keeps everything else.
    pub(super) fn release(&self, release: &Release) -> Result<Outcome, DriverError> {
        let Some((row, record)) = self.changed(|record| record.release(release))? else {
            return Ok(Outcome::Conflict);
        };
        let end = TermEnd::Released(release.reason);
        self.end_term(record.epoch, row.last_acted_ms(self), end)?;
        LeaseRow::put(self, record, self.at.now)?;
        Ok(Outcome::Applied)
    }

    /// Leaves a request beside the lease.
    pub(super) fn ask(&self, epoch: Epoch, ask: &Ask) -> Result<Outcome, DriverError> {
        let Some((row, record)) = self.changed(|record| record.ask(epoch, ask))? else {
            return Ok(Outcome::Conflict);
        };
        LeaseRow { record, ..row }.write(self)?;
        Ok(Outcome::Applied)
    }

    /// The row of the namespace, and the record that a rule makes of it; `None` if the rule
    /// refuses.
    fn changed(
        &self,
        rule: impl FnOnce(&LeaseRecord) -> Option<LeaseRecord>,
    ) -> Result<Option<(LeaseRow, LeaseRecord)>, DriverError> {
        let row = LeaseRow::read(self)?;
        Ok(row.and_then(|row| rule(&row.record).map(|record| (row, record))))
    }
}

impl LeaseRow {
    /// The end of a term that another process's claim ends: its holder could act until the claim,
    /// or until its lease ran out, and is only known to have acted until it last renewed it.
    fn unreleased(&self, context: &CallContext<'_>, end: TermEnd) -> Unreleased {
        let now_ms = context.at.wall_ms;
        let renewed_ms = if self.is_from_before_the_boot(context) {
            self.updated_ms.min(now_ms)
        } else {
            let renewed = self.expires_at - self.record.ttl;
            now_ms.saturating_sub(whole_ms(context.at.now.since(renewed)))
        };
        Unreleased { end, ended_ms: self.last_acted_ms(context), renewed_ms }
    }

    /// When the holder could last act, if that ends now: now, or when the lease ran out.
    fn last_acted_ms(&self, context: &CallContext<'_>) -> u64 {
        let now_ms = context.at.wall_ms;
        if self.is_from_before_the_boot(context) {
            // The clock that the expiry was set by is gone; what people's clock said is left.
            return self.updated_ms.saturating_add(whole_ms(self.record.ttl)).min(now_ms);
        }
        now_ms.saturating_sub(whole_ms(context.at.now.since(self.expires_at)))
    }
}
