//! The lease as a row: reading it, writing it, and what a reply shows of it.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use baton_core::protocol::{Ask, Expiry, Holder, LeaseSnapshot};
use baton_core::time::Moment;
use baton_store::lease_rule::{LeaseRecord, Life};
use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type};

use super::columns::{Bits, Json, Text};
use super::context::CallContext;
use crate::driver::DriverError;

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

const HELD: i64 = 1;
const RELEASED: i64 = 0;

impl LeaseRow {
    /// The lease of the namespace; `None` if it never had one.
    pub(super) fn read(context: &CallContext<'_>) -> Result<Option<Self>, DriverError> {
        context.one(READ, [context.namespace.as_str()], "the lease", Self::from_row)
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let bits = |at: &str| row.get::<_, Bits>(at).map(|bits| bits.0);
        let nonce_boot = row.get::<_, Text<BootId>>("nonce_boot")?.0;
        let record = LeaseRecord {
            epoch: Epoch(bits("epoch")?),
            nonce: Nonce { boot: nonce_boot, attempt: bits("nonce_attempt")? },
            holder: holder(row)?,
            successor: row.get::<_, Option<Text<NodeId>>>("successor")?.map(|name| name.0),
            ttl: Duration::from_micros(bits("ttl")?),
            written_in: Lineage(bits("written_in")?),
            granted_in: Lineage(bits("granted_in")?),
            asked: row.get::<_, Option<Json<Ask>>>("asked")?.map(|ask| ask.0),
        };
        Ok(Self {
            record,
            expires_at: Moment::from_micros(bits("expires_at")?),
            machine: row.get("machine")?,
            updated_ms: bits("updated_at")?,
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
            Text(self.record.nonce.boot),
            Bits(self.record.nonce.attempt),
            if holder.is_some() { HELD } else { RELEASED },
            holder.map(|holder| holder.node.as_str()),
            holder.map(|holder| Text(holder.boot)),
            holder.and_then(|holder| holder.lifeline.as_deref()),
            self.record.successor.as_ref().map(NodeId::as_str),
            Bits(ttl),
            Bits(self.expires_at.as_micros()),
            &*self.machine,
            Bits(self.record.written_in.0),
            Bits(self.record.granted_in.0),
            self.record.asked.as_ref().map(Json),
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
    pub(super) fn holder_life(&self, context: &CallContext<'_>) -> Life {
        match &self.record.holder {
            Some(_) if self.holder_is_dead(context) => Life::Gone,
            Some(holder) if context.is_alive(holder.boot, &self.machine) => Life::Alive,
            _ => Life::Unknown,
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

/// The holder, if the status says that there is one.
fn holder(row: &Row<'_>) -> rusqlite::Result<Option<Holder>> {
    let status: i64 = row.get("status")?;
    let node = row.get::<_, Option<Text<NodeId>>>("owner_id")?;
    let boot = row.get::<_, Option<Text<BootId>>>("owner_boot")?;
    let lifeline = row.get::<_, Option<Arc<str>>>("owner_lifeline")?;
    match (status, node, boot) {
        (HELD, Some(node), Some(boot)) => Ok(Some(Holder { node: node.0, boot: boot.0, lifeline })),
        (RELEASED, None, None) => Ok(None),
        _ => {
            let why = format!("status {status} does not go with its owner");
            let why = FromSqlError::Other(why.into());
            Err(rusqlite::Error::FromSqlConversionFailure(3, Type::Integer, Box::new(why)))
        }
    }
}
