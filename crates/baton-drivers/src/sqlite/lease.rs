//! The lease: its row, and between reading and writing it the rule that all stores share.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Lineage, NodeId, Nonce};
use baton_core::protocol::{
    Acquire, Ask, Expiry, LeaseSnapshot, NodeRecord, Outcome, Release, Renew, TermEnd,
};
use baton_core::time::{Moment, whole_ms};
use baton_store::lease_rule::{self, EpochBounds, Facts, LeaseRecord, Liveness, UnreleasedEnd};

use super::context::CallContext;
use super::records::{Bits, ReadRow, json};
use crate::driver::{DriverError, Record, boot_id};

/// The one record of a namespace, and what is kept beside it. Never deleted.
pub(super) struct LeaseRow {
    pub(super) record: LeaseRecord,
    /// By the clock of the machine, in the boot named by `machine`.
    pub(super) expires_at: Moment,
    pub(super) machine: Arc<str>,
    /// When it was last written, for people and for the term history.
    pub(super) updated_ms: u64,
}

const READ: &str = "SELECT epoch, nonce_boot, nonce_attempt, status, owner_id, owner_boot, \
    owner_lifeline, successor, ttl, expires_at, machine, written_in, granted_in, asked, \
    updated_at FROM baton_locks WHERE lock_key = ?1";

const WRITE: &str = "INSERT INTO baton_locks (lock_key, epoch, nonce_boot, nonce_attempt, status, \
    owner_id, owner_boot, owner_lifeline, successor, ttl, expires_at, machine, written_in, \
    granted_in, asked, created_at, updated_at) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16) \
    ON CONFLICT (lock_key) DO UPDATE SET epoch = ?2, nonce_boot = ?3, nonce_attempt = ?4, \
    status = ?5, owner_id = ?6, owner_boot = ?7, owner_lifeline = ?8, successor = ?9, ttl = ?10, \
    expires_at = ?11, machine = ?12, written_in = ?13, granted_in = ?14, asked = ?15, \
    updated_at = ?16";

impl LeaseRow {
    /// The lease of the namespace; `None` if it never had one.
    pub(super) fn read(context: &CallContext<'_>) -> Result<Option<Self>, DriverError> {
        context.one(READ, [context.namespace.as_str()], "the lease", |it| Self::of(&it))
    }

    fn of(record: &Record<'_, ReadRow>) -> Result<Self, DriverError> {
        let boot = record.id("nonce_boot", boot_id)?;
        let lease = LeaseRecord {
            epoch: Epoch(record.number("epoch")?),
            nonce: Nonce { boot, attempt: record.number("nonce_attempt")? },
            holder: record.holder()?,
            successor: record.read("successor", NodeId::new)?,
            ttl: Duration::from_micros(record.number("ttl")?),
            written_in: Lineage(record.number("written_in")?),
            granted_in: Lineage(record.number("granted_in")?),
            asked: record.maybe_json("asked")?,
        };
        Ok(Self {
            record: lease,
            expires_at: Moment::from_micros(record.number("expires_at")?),
            machine: record.text("machine")?.into(),
            updated_ms: record.number("updated_at")?,
        })
    }

    /// Writes the record now, by the clock of this boot of the machine.
    pub(super) fn put(
        context: &CallContext<'_>,
        record: LeaseRecord,
        expires_at: Moment,
    ) -> Result<Self, DriverError> {
        let machine = Arc::clone(&context.machine.boot);
        let row = Self { record, expires_at, machine, updated_ms: context.at.wall_ms };
        row.write(context)?;
        Ok(row)
    }

    /// Puts the row in the place of the one there is.
    pub(super) fn write(&self, context: &CallContext<'_>) -> Result<(), DriverError> {
        let holder = self.record.holder.as_ref();
        let ttl = u64::try_from(self.record.ttl.as_micros()).unwrap_or(u64::MAX);
        let values = rusqlite::params![
            context.namespace.as_str(),
            Bits(self.record.epoch.0),
            self.record.nonce.boot.to_string(),
            Bits(self.record.nonce.attempt),
            holder.is_some(),
            holder.map(|holder| holder.node.as_str()),
            holder.map(|holder| holder.boot.to_string()),
            holder.and_then(|holder| holder.lifeline.as_deref()),
            self.record.successor.as_ref().map(NodeId::as_str),
            Bits(ttl),
            Bits(self.expires_at.as_micros()),
            &*self.machine,
            Bits(self.record.written_in.0),
            Bits(self.record.granted_in.0),
            self.record.asked.as_ref().map(json),
            Bits(self.updated_ms),
        ];
        context.run(WRITE, values).map(drop)
    }

    /// Was it written before the machine was last booted?
    pub(super) fn is_from_before_the_boot(&self, context: &CallContext<'_>) -> bool {
        self.machine != context.machine.boot
    }

    /// Has it run out by the clock? A reading of an earlier boot is over.
    pub(super) fn has_expired(&self, context: &CallContext<'_>) -> bool {
        self.is_from_before_the_boot(context) || context.at.now >= self.expires_at
    }

    /// Is the holder's process known to be gone?
    fn holder_is_dead(&self, context: &CallContext<'_>) -> bool {
        let holder = self.record.holder.as_ref();
        holder.is_some_and(|holder| context.is_dead(holder.boot, &self.machine))
    }

    /// What the kernel knows of the holder's process.
    pub(super) fn holder_liveness(&self, context: &CallContext<'_>) -> Liveness {
        match &self.record.holder {
            Some(_) if self.holder_is_dead(context) => Liveness::Gone,
            Some(holder) if context.is_alive(holder.boot, &self.machine) => Liveness::Alive,
            _ => Liveness::Unknown,
        }
    }

    /// What a reply shows of it.
    pub(super) fn snapshot(&self, context: &CallContext<'_>) -> LeaseSnapshot {
        let over = self.has_expired(context) || self.holder_is_dead(context);
        let left = self.expires_at.since(context.at.now).max(Duration::from_millis(1));
        let mut shown =
            self.record.snapshot(Expiry::Left(if over { Duration::ZERO } else { left }));
        // A resignation names the first of a view, which learns of a death much later than the
        // kernel. If the record cannot be read, the call that reads it next fails.
        let is_dead = |node: &NodeId| context.is_dead_node(node).unwrap_or(false);
        shown.successor = shown.successor.filter(|node| !is_dead(node));
        shown
    }
}

impl CallContext<'_> {
    /// What holds now for a lease whose holder lives or not, as `life` says.
    fn facts<'a>(&self, row: Option<&LeaseRow>, life: &'a dyn Fn() -> Liveness) -> Facts<'a> {
        let has_expired = row.map(|row| row.has_expired(self));
        Facts { lineage: self.lineage, has_expired, holder: life }
    }

    /// Begins a new term, if the claim holds.
    pub(super) fn acquire(
        &self,
        bounds: EpochBounds,
        lease: &mut Option<LeaseRow>,
        node: &NodeRecord,
        grant: &Acquire,
    ) -> Result<Outcome, DriverError> {
        let row = lease.as_ref();
        let life = || row.map_or(Liveness::Unknown, |row| row.holder_liveness(self));
        let record = row.map(|row| &row.record);
        let facts = self.facts(row, &life);
        let Some(granted) = lease_rule::acquire(record, facts, bounds, node, grant) else {
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
        let facts = self.facts(lease.as_ref(), &|| Liveness::Unknown);
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
    fn unreleased(&self, context: &CallContext<'_>, end: TermEnd) -> UnreleasedEnd {
        let now_ms = context.at.wall_ms;
        let renewed_ms = if self.is_from_before_the_boot(context) {
            self.updated_ms.min(now_ms)
        } else {
            let renewed = self.expires_at - self.record.ttl;
            now_ms.saturating_sub(whole_ms(context.at.now.since(renewed)))
        };
        UnreleasedEnd { end, ended_ms: self.last_acted_ms(context), renewed_ms }
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
