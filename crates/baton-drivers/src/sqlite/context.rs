//! One call in one namespace, inside a transaction.

use baton_core::ids::{BootId, Epoch, Lineage, Namespace};
use baton_store::lease_rule::EpochBounds;
use baton_store::memory::StepTime;
use rusqlite::{Connection, Params};

use super::boots::Boots;
use super::lease::LeaseRow;
use super::locks;
use super::machine::Machine;
use super::records::{Bits, ReadRow};
use crate::driver::{DriverError, Record};

/// Where and when a call is carried out.
pub(super) struct CallContext<'a> {
    pub(super) conn: &'a Connection,
    pub(super) namespace: &'a Namespace,
    /// Read while the transaction holds its lock.
    pub(super) at: StepTime,
    pub(super) machine: &'a Machine,
    pub(super) lineage: Lineage,
    pub(super) boots: &'a Boots,
}

impl CallContext<'_> {
    /// Runs a statement; how many rows it changed.
    pub(super) fn run(&self, sql: &str, values: impl Params) -> Result<usize, DriverError> {
        Ok(self.conn.prepare_cached(sql)?.execute(values)?)
    }

    /// What is read of every row that the statement finds. `name` is what a row is called in
    /// errors.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        name: &str,
        read: impl Fn(Record<'_, ReadRow>) -> Result<T, DriverError>,
    ) -> Result<Vec<T>, DriverError> {
        let rows = ReadRow::all(&mut *self.conn.prepare_cached(sql)?, values)?;
        Record::all(&rows, &format!("{name} of namespace {}", self.namespace), read)
    }

    /// The same of the one row that it finds, if there is one.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        name: &str,
        read: impl Fn(Record<'_, ReadRow>) -> Result<T, DriverError>,
    ) -> Result<Option<T>, DriverError> {
        Ok(self.all(sql, values, name, read)?.pop())
    }

    /// Is this process known to be gone? `machine` is the boot of the machine that it ran in.
    pub(super) fn is_dead(&self, boot: BootId, machine: &str) -> bool {
        machine != &*self.machine.boot || locks::is_dead(self.boots, boot, self.machine)
    }

    /// Is this process known to live? The kernel knows better than any other node.
    pub(super) fn is_alive(&self, boot: BootId, machine: &str) -> bool {
        machine == &*self.machine.boot && locks::is_alive(self.boots, boot)
    }

    /// What every epoch of the namespace is above. It begins now if it was never written to.
    pub(super) fn space_or_begin(&self) -> Result<EpochBounds, DriverError> {
        let sql = "SELECT born_in, fence FROM baton_namespaces WHERE namespace = ?1";
        let space = self.one(sql, [self.namespace.as_str()], "the record", |it| {
            let (born_in, fence) = (it.number("born_in")?, it.number("fence")?);
            Ok(EpochBounds { born_in: Lineage(born_in), fence: Epoch(fence) })
        });
        if let Some(space) = space? {
            return Ok(space);
        }
        let sql = "INSERT INTO baton_namespaces (namespace, born_in, fence, created_at) \
                   VALUES (?1, ?2, 0, ?3)";
        self.run(sql, (self.namespace.as_str(), Bits(self.lineage.0), Bits(self.at.wall_ms)))?;
        Ok(EpochBounds { born_in: self.lineage, fence: Epoch::NONE })
    }

    /// Is a later epoch known here, by a grant or by a write?
    pub(super) fn is_fenced_off(&self, fence: Epoch) -> Result<bool, DriverError> {
        let space = self.space_or_begin()?;
        let granted = LeaseRow::read(self)?.map_or(Epoch::NONE, |row| row.record.epoch);
        Ok(fence < space.fence.max(granted))
    }

    /// A write that carried this epoch took place.
    pub(super) fn raise_fence(&self, fence: Epoch) -> Result<(), DriverError> {
        let sql = "UPDATE baton_namespaces SET fence = ?2 WHERE namespace = ?1";
        self.run(sql, (self.namespace.as_str(), Bits(fence.0))).map(drop)
    }
}
