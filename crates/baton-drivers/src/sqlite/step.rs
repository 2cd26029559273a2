//! One step in one namespace, inside a transaction.

use baton_core::ids::{BootId, Epoch, Lineage, Namespace};
use baton_core::protocol::{Reply, Request};
use baton_store::memory::Stamp;
use baton_store::{Answer, Call, Inspection};
use rusqlite::{Connection, OptionalExtension};

use super::boot::Machine;
use super::boots::Boots;
use super::columns::Bits;
use super::error::Fault;
use super::lease_row::LeaseRow;
use super::{beat, counters, documents, history, lease, locks, prune, registry, view};

/// Where and when a step happens.
pub(super) struct Step<'a> {
    pub(super) conn: &'a Connection,
    pub(super) namespace: &'a Namespace,
    /// Read while the transaction holds its lock.
    pub(super) at: Stamp,
    pub(super) machine: &'a Machine,
    pub(super) lineage: Lineage,
    pub(super) boots: &'a Boots,
}

/// What a namespace has beside its lease.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// The lineage in which it was first written to.
    pub(super) born_in: Lineage,
    /// The highest epoch that a write carried.
    pub(super) fence: Epoch,
}

impl Step<'_> {
    /// Carries the call out.
    pub(super) fn perform(&self, call: &Call) -> Result<Answer, Fault> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request)?),
            Call::Inspect => Answer::Inspected(self.inspect()?),
            Call::ReadDocument { name } => Answer::Document(documents::read(self, name)?),
            Call::WriteDocument { name, body, precondition, fence } => {
                Answer::Written(documents::write(self, name, body, *precondition, *fence)?)
            }
            Call::History { limit } => Answer::History(history::newest(self, *limit)?),
            Call::Counters(call) => Answer::Counters(counters::perform(self, call)?),
            Call::Prune { fence, prune } => Answer::Pruned(prune::prune(self, *fence, prune)?),
        })
    }

    fn perform_core(&self, request: &Request) -> Result<Reply, Fault> {
        let outcome = match request {
            Request::Beat(beat) => return beat::beat(self, beat).map(Reply::Beat),
            Request::ReadMembers => return registry::members(self).map(Reply::Members),
            Request::PublishView { fence, view } => view::publish(self, *fence, view)?,
            Request::Release(release) => lease::release(self, release)?,
            Request::Leave { node, boot } => registry::leave(self, node, *boot)?,
            Request::Ask { epoch, ask } => lease::ask(self, *epoch, ask)?,
        };
        Ok(Reply::Done(outcome))
    }

    fn inspect(&self) -> Result<Inspection, Fault> {
        let lease = LeaseRow::read(self)?.map(|row| row.snapshot(self));
        Ok(Inspection { lease, lineage: self.lineage, view: view::read(self)? })
    }

    /// Is this process known to be gone? `machine` is the boot of the machine that it ran in.
    pub(super) fn is_dead(&self, boot: BootId, machine: &str) -> bool {
        machine != &*self.machine.boot || locks::is_dead(self.boots, boot, self.machine)
    }

    /// Is this process known to live? Whatever anybody else was told, the kernel knows better.
    pub(super) fn is_alive(&self, boot: BootId, machine: &str) -> bool {
        machine == &*self.machine.boot && locks::is_alive(self.boots, boot)
    }

    /// The namespace, if it was ever written to.
    pub(super) fn space(&self) -> Result<Option<Space>, Fault> {
        let sql = "SELECT born_in, fence FROM baton_namespaces WHERE namespace = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let space = statement.query_row([self.namespace.as_str()], |row| {
            let (born_in, fence): (Bits, Bits) = (row.get(0)?, row.get(1)?);
            Ok(Space { born_in: Lineage(born_in.0), fence: Epoch(fence.0) })
        });
        let record = || format!("the record of namespace {}", self.namespace);
        space.optional().map_err(|error| Fault::reading(record, error))
    }

    /// The namespace, which begins now if it was never written to.
    pub(super) fn space_or_begin(&self) -> Result<Space, Fault> {
        if let Some(space) = self.space()? {
            return Ok(space);
        }
        let sql = "INSERT INTO baton_namespaces (namespace, born_in, fence, created_at) \
                   VALUES (?1, ?2, 0, ?3)";
        let values = (self.namespace.as_str(), Bits(self.lineage.0), Bits(self.at.wall_ms));
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(Space { born_in: self.lineage, fence: Epoch::NONE })
    }

    /// Is a later epoch known here, by a grant or by a write?
    pub(super) fn is_fenced_off(&self, space: Space, fence: Epoch) -> Result<bool, Fault> {
        let granted = LeaseRow::read(self)?.map_or(Epoch::NONE, |row| row.version.epoch);
        Ok(fence < space.fence.max(granted))
    }

    /// A write that carried this epoch took place.
    pub(super) fn raise_fence(&self, fence: Epoch) -> Result<(), Fault> {
        let sql = "UPDATE baton_namespaces SET fence = ?2 WHERE namespace = ?1";
        self.conn.prepare_cached(sql)?.execute((self.namespace.as_str(), Bits(fence.0)))?;
        Ok(())
    }
}
