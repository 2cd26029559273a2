//! What a store is asked: which rule carries each call out, and the short ones themselves. A beat
//! is here too; the rules of leases, nodes, terms and counters have files of their own.

use std::sync::Arc;

use baton_core::ids::{Epoch, Namespace};
use baton_core::protocol::{
    BeatReply, BeatRequest, LeaseIntent, Outcome, Registration, Reply, Request, View, ViewVersion,
};
use baton_store::{
    Answer, BatchOutcome, Call, Document, DocumentWrite, Inspection, Prune, PruneOutcome,
};

use super::context::CallContext;
use super::lease::LeaseRow;
use super::records::{Bits, ReadRow, json};
use crate::driver::{DriverError, Record};

/// A machine that was booted since has no process of before.
const PRUNE_NODES: &str = include_str!("sql/prune/nodes.sql");
const PRUNE_TERMS: &str = include_str!("sql/prune/terms.sql");

impl CallContext<'_> {
    /// Carries the call out.
    pub(super) fn perform(&self, call: &Call) -> Result<Answer, DriverError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request)?),
            Call::Inspect => {
                let lease = LeaseRow::read(self)?.map(|row| row.snapshot(self));
                let (lineage, view) = (self.lineage, self.view()?);
                Answer::Inspected(Inspection { lease, lineage, view })
            }
            Call::ReadDocuments { names } => {
                let found = names.iter().map(|name| self.document(name));
                Answer::Documents(found.collect::<Result<_, _>>()?)
            }
            Call::WriteDocuments { writes, fence } => {
                Answer::Written(self.write_documents(writes, *fence)?)
            }
            Call::History { limit } => Answer::History(self.newest_terms(*limit)?),
            Call::Namespaces { after, limit } => {
                let sql = "SELECT lock_key FROM baton_locks WHERE lock_key > ?1 \
                           ORDER BY lock_key LIMIT ?2";
                let values = (after.as_ref().map_or("", Namespace::as_str), limit);
                let rows = ReadRow::all(&mut *self.conn.prepare_cached(sql)?, values)?;
                let name = "the name of a namespace";
                let read = |it: Record<'_, ReadRow>| it.id("lock_key", Namespace::new);
                Answer::Namespaces(Record::all(&rows, name, read)?)
            }
            Call::Counters(call) => Answer::Counters(self.count(call)?),
            Call::Prune { fence, prune } => Answer::Pruned(self.prune(*fence, prune)?),
        })
    }

    fn perform_core(&self, request: &Request) -> Result<Reply, DriverError> {
        Ok(Reply::Done(match request {
            Request::Beat(beat) => return self.beat(beat).map(Reply::Beat),
            Request::ReadMembers => return self.members().map(Reply::Members),
            Request::PublishView { fence, view } => self.publish_view(*fence, view)?,
            Request::Release(release) => self.release(release)?,
            Request::Leave { node, boot } => self.leave(node, *boot)?,
            Request::Ask { epoch, ask } => self.ask(*epoch, ask)?,
        }))
    }

    fn beat(&self, beat: &BeatRequest) -> Result<BeatReply, DriverError> {
        let space = self.space_or_begin()?;
        let mut lease = LeaseRow::read(self)?;
        let registration = self.register(&beat.node, beat.replaces)?;
        let outcome = match (&registration, &beat.lease) {
            (Registration::TakenBy { .. }, _) | (_, LeaseIntent::Observe) => None,
            (_, LeaseIntent::Acquire(acquire)) => {
                Some(self.acquire(space, &mut lease, &beat.node, acquire)?)
            }
            (_, LeaseIntent::Renew(renew)) => Some(self.renew(&mut lease, renew)?),
        };
        let view = match self.view_version()? {
            Some(published) if published > beat.known_view => self.view()?,
            _ => None,
        };
        let lease = lease.as_ref().map(|row| row.snapshot(self));
        Ok(BeatReply { registration, lease, outcome, lineage: self.lineage, view })
    }

    fn publish_view(&self, fence: Epoch, view: &View) -> Result<Outcome, DriverError> {
        let ViewVersion { epoch, number } = view.version;
        let older =
            self.view_version()?.is_some_and(|known| known.epoch == epoch && known >= view.version);
        if older || self.is_fenced_off(fence)? {
            return Ok(Outcome::Conflict);
        }
        let sql = "INSERT INTO baton_views (namespace, epoch, number, body) \
                   VALUES (?1, ?2, ?3, ?4) ON CONFLICT (namespace) \
                   DO UPDATE SET epoch = ?2, number = ?3, body = ?4";
        self.run(sql, (self.namespace.as_str(), Bits(epoch.0), Bits(number), json(view)))?;
        self.raise_fence(fence)?;
        Ok(Outcome::Applied)
    }

    fn view_version(&self) -> Result<Option<ViewVersion>, DriverError> {
        let sql = "SELECT epoch, number FROM baton_views WHERE namespace = ?1";
        self.one(sql, [self.namespace.as_str()], "the view", |it| {
            Ok(ViewVersion { epoch: Epoch(it.number("epoch")?), number: it.number("number")? })
        })
    }

    fn view(&self) -> Result<Option<Arc<View>>, DriverError> {
        let sql = "SELECT body FROM baton_views WHERE namespace = ?1";
        let view = self.one(sql, [self.namespace.as_str()], "the view", |it| it.maybe_json("body"));
        Ok(view?.flatten().map(Arc::new))
    }

    fn document(&self, name: &str) -> Result<Option<Document>, DriverError> {
        let sql = "SELECT version, body FROM baton_documents WHERE namespace = ?1 AND name = ?2";
        let (values, record) = ((self.namespace.as_str(), name), format!("document {name:?}"));
        self.one(sql, values, &record, |it| {
            Ok(Document { version: it.number("version")?, body: it.bytes("body")?.to_vec() })
        })
    }

    fn document_version(&self, name: &str) -> Result<u64, DriverError> {
        let sql = "SELECT version FROM baton_documents WHERE namespace = ?1 AND name = ?2";
        let (values, record) = ((self.namespace.as_str(), name), format!("document {name:?}"));
        Ok(self.one(sql, values, &record, |it| it.number("version"))?.unwrap_or(0))
    }

    /// Writes all of them, if every precondition holds and no later epoch is known.
    fn write_documents(
        &self,
        writes: &[DocumentWrite],
        fence: Option<Epoch>,
    ) -> Result<BatchOutcome, DriverError> {
        let is_fenced_off = match fence {
            Some(fence) => self.is_fenced_off(fence)?,
            None => self.space_or_begin().map(|_| false)?,
        };
        if is_fenced_off {
            return Ok(BatchOutcome::Fenced);
        }
        let present = writes.iter().map(|write| self.document_version(&write.name));
        let present = present.collect::<Result<Vec<_>, _>>()?;
        if let Some(conflict) = BatchOutcome::conflict(writes, &present) {
            return Ok(conflict);
        }
        let sql = "INSERT INTO baton_documents (namespace, name, version, body, updated_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (namespace, name) \
                   DO UPDATE SET version = ?3, body = ?4, updated_at = ?5";
        let (namespace, at) = (self.namespace.as_str(), Bits(self.at.wall_ms));
        let next = |version: u64| version.saturating_add(1);
        let written: Vec<u64> = present.into_iter().map(next).collect();
        for (DocumentWrite { name, body, .. }, version) in writes.iter().zip(&written) {
            self.run(sql, (namespace, name, Bits(*version), body, at))?;
        }
        if let Some(fence) = fence {
            self.raise_fence(fence)?;
        }
        Ok(BatchOutcome::Written(written))
    }

    fn prune(&self, fence: Epoch, prune: &Prune) -> Result<PruneOutcome, DriverError> {
        if self.is_fenced_off(fence)? {
            return Ok(PruneOutcome::Fenced);
        }
        let namespace = self.namespace.as_str();
        let dead_for = u64::try_from(prune.dead_for.as_micros()).unwrap_or(u64::MAX);
        // Before this, in microseconds since the machine was booted; nothing was before that.
        let before = self.at.now.as_micros().checked_sub(dead_for).map_or(-1, u64::cast_signed);
        let of_this_boot = (namespace, &*self.machine.boot, before, prune.limit);
        let nodes = self.run(PRUNE_NODES, of_this_boot)?;
        let left = u64::from(prune.limit) - nodes as u64;
        let keep = i64::try_from(prune.keep_terms.max(1)).unwrap_or(i64::MAX);
        let terms = self.run(PRUNE_TERMS, (namespace, keep, Bits(left)))?;
        if nodes + terms > 0 {
            self.raise_fence(fence)?;
        }
        Ok(PruneOutcome::Pruned { records: u32::try_from(nodes + terms).unwrap_or(u32::MAX) })
    }
}
