//! One call in one namespace, inside a transaction.

use std::fmt::Display;

use baton_core::ids::{BootId, Epoch, Lineage, Namespace};
use baton_core::protocol::{Reply, Request};
use baton_store::memory::Stamp;
use baton_store::{Answer, Call, Inspection};
use rusqlite::{Connection, OptionalExtension};

use super::boots::Boots;
use super::columns::Bits;
use super::error::reading;
use super::lease_row::{self, LeaseRow};
use super::machine::Machine;
use super::{beat, counters, documents, history, lease, locks, prune, registry, view};
use crate::driver::DriverError;

/// Where and when a call is carried out.
pub(super) struct CallContext<'a> {
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

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request)?),
            Call::Inspect => Answer::Inspected(self.inspect()?),
            Call::ReadDocument { name } => Answer::Document(documents::read(self, name)?),
            Call::WriteDocument { name, body, precondition, fence } => {
                Answer::Written(documents::write(self, name, body, *precondition, *fence)?)
            }
            Call::History { limit } => Answer::History(history::newest(self, *limit)?),
            Call::Namespaces { after, limit } => {
                Answer::Namespaces(lease_row::namespaces(self, after.as_ref(), *limit)?)
            }
            Call::Counters(call) => Answer::Counters(counters::perform(self, call)?),
            Call::Prune { fence, prune } => Answer::Pruned(prune::prune(self, *fence, prune)?),
        })
    }

    fn perform_core(&self, request: &Request) -> Result<Reply, DriverError> {
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

    fn inspect(&self) -> Result<Inspection, DriverError> {
        let lease = LeaseRow::read(self)?.map(|row| row.snapshot(self));
        Ok(Inspection { lease, lineage: self.lineage, view: view::read(self)? })
    }

    /// Makes the error of a statement that read this record of the namespace.
    pub(super) fn spoilt(
        &self,
        record: impl Display,
    ) -> impl FnOnce(rusqlite::Error) -> DriverError {
        let record = format!("{record} of namespace {}", self.namespace);
        move |error| reading(record, error)
    }

    /// Is this process known to be gone? `machine` is the boot of the machine that it ran in.
    pub(super) fn is_dead(&self, boot: BootId, machine: &str) -> bool {
        machine != &*self.machine.boot || locks::is_dead(self.boots, boot, self.machine)
    }

    /// Is this process known to live? The kernel knows better than any other node.
    pub(super) fn is_alive(&self, boot: BootId, machine: &str) -> bool {
        machine == &*self.machine.boot && locks::is_alive(self.boots, boot)
    }

    /// The namespace, if it was ever written to.
    pub(super) fn space(&self) -> Result<Option<Space>, DriverError> {
        let sql = "SELECT born_in, fence FROM baton_namespaces WHERE namespace = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let space = statement.query_row([self.namespace.as_str()], |row| {
            let (born_in, fence): (Bits, Bits) = (row.get(0)?, row.get(1)?);
            Ok(Space { born_in: Lineage(born_in.0), fence: Epoch(fence.0) })
        });
        space.optional().map_err(self.spoilt("the record"))
    }

    /// The namespace, which begins now if it was never written to.
    pub(super) fn space_or_begin(&self) -> Result<Space, DriverError> {
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
    pub(super) fn is_fenced_off(&self, space: Space, fence: Epoch) -> Result<bool, DriverError> {
        let granted = LeaseRow::read(self)?.map_or(Epoch::NONE, |row| row.record.epoch);
        Ok(fence < space.fence.max(granted))
    }

    /// A write that carried this epoch took place.
    pub(super) fn raise_fence(&self, fence: Epoch) -> Result<(), DriverError> {
        let sql = "UPDATE baton_namespaces SET fence = ?2 WHERE namespace = ?1";
        self.conn.prepare_cached(sql)?.execute((self.namespace.as_str(), Bits(fence.0)))?;
        Ok(())
    }
}
