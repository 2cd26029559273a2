//! What a store is asked: reads, and writes that compare all that they rest on. Beats and the lease
//! have files of their own.

use std::sync::Arc;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::protocol::{Member, NodeRecord, Outcome, Reply, Request, TermRecord, View};
use baton_store::clock::{Clock, SystemClock};
use baton_store::{
    Answer, BatchOutcome, Call, Document, DocumentWrite, Inspection, Prune, PruneOutcome,
    StoreError, namespace_page,
};

use super::context::{ATTEMPTS, CallContext, Plan, overtaken};
use super::error::GatewayError;
use super::namespace_state::unchanged;
use super::records::{self, Record, Stored};
use super::schema;
use super::wire::{Compare, Op, Range, Txn};

/// etcd takes no more than 128 operations at once, and the transaction has some of its own.
const NODES_MAX: usize = 100;

impl CallContext<'_> {
    pub(super) async fn perform(mut self, call: Call) -> Result<Answer, StoreError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(request).await?),
            Call::Inspect => Answer::Inspected(self.inspect().await?),
            Call::ReadDocuments { names } => {
                self.documents = names;
                Answer::Documents(self.read_documents().await?)
            }
            Call::WriteDocuments { writes, fence } => {
                self.documents = writes.iter().map(|write| write.name.clone()).collect();
                Answer::Written(self.write_documents(&writes, fence).await?)
            }
            Call::Namespaces { after, limit } => {
                let all = schema::namespaces(&self.engine.connection).await?;
                Answer::Namespaces(namespace_page(all, after.as_ref(), limit))
            }
            Call::Counters(_) => unreachable!("counters are not declared"),
            Call::History { limit } => Answer::History(self.history(limit).await?),
            Call::Prune { fence, prune } => Answer::Pruned(self.prune(fence, prune).await?),
        })
    }

    async fn perform_core(mut self, request: Request) -> Result<Reply, StoreError> {
        Ok(Reply::Done(match request {
            Request::Beat(beat) => {
                self.node = Some(beat.node.id.clone());
                return self.beat(&beat).await.map(Reply::Beat);
            }
            Request::ReadMembers => return self.members().await.map(Reply::Members),
            Request::PublishView { fence, view } => self.publish_view(fence, view).await?,
            Request::Release(release) => self.release(&release).await?,
            Request::Leave { node, boot } => {
                self.node = Some(node.clone());
                self.leave(&node, boot).await?
            }
            Request::Ask { epoch, ask } => self.ask(epoch, &ask).await?,
        }))
    }

    /// The lease and the view. People want to know what is left, so etcd is asked.
    async fn inspect(&self) -> Result<Inspection, StoreError> {
        let state = self.read().await?;
        if state.is_live() {
            // As on the first look: what was counted is set aside.
            self.engine.cache.with(self.namespace, |cached| cached.leases.alive = None);
        }
        let leases = self.known_leases(&state).await;
        let view = state.view.as_ref().map(|stored| stored.record.clone());
        let lease = leases.snapshot(&state, SystemClock.now());
        Ok(Inspection { lease, lineage: super::LINEAGE, view })
    }

    async fn publish_view(&self, fence: Epoch, view: Arc<View>) -> Result<Outcome, StoreError> {
        let keys = &self.keys;
        self.carry_out(|state| {
            let known = state.view.as_ref().map(|stored| stored.record.version);
            let is_older = known
                .is_some_and(|known| known.epoch == view.version.epoch && known >= view.version);
            let admitted = state.admit(keys, fence).filter(|_| !is_older);
            let Some((mut compare, mut writes)) = admitted else {
                return Plan::Answer(Outcome::Conflict);
            };
            let revision = state.view.as_ref().map_or(0, |stored| stored.revision);
            compare.push(Compare::written_at(&keys.view, revision));
            writes.push(Op::put(&keys.view, view.write()));
            Plan::Write(compare, writes, Outcome::Applied)
        })
        .await
    }

    pub(super) async fn leave(&self, node: &NodeId, boot: BootId) -> Result<Outcome, StoreError> {
        let key = self.keys.node(node);
        let outcome = self.carry_out(|state| match &state.node {
            Some(stored) if stored.record.boot == boot => {
                Plan::Write(unchanged(&key, &state.node), vec![Op::delete(&key)], Outcome::Applied)
            }
            _ => Plan::Answer(Outcome::Conflict),
        });
        let outcome = outcome.await?;
        self.engine.cache.with(self.namespace, |cached| cached.nodes.remove(node));
        Ok(outcome)
    }

    /// Every node record. etcd has no clock to ask, so no ages.
    pub(super) async fn members(&self) -> Result<Vec<Member>, StoreError> {
        let records = self.node_records().await?;
        Ok(records.into_iter().map(|it| Member { record: it.record, silent_for: None }).collect())
    }

    pub(super) async fn node_records(&self) -> Result<Vec<Stored<NodeRecord>>, StoreError> {
        let found = self.engine.connection.range(&Range::under(&self.keys.nodes)).await?;
        let what = || format!("a node of namespace {}", self.namespace);
        found.iter().map(|found| records::read(found, what)).collect()
    }

    /// The documents of this call, all at one revision.
    async fn read_documents(&self) -> Result<Vec<Option<Document>>, StoreError> {
        let txn = Txn { success: self.document_operations().collect(), ..Txn::default() };
        let answer = self.send(&txn).await.map_err(GatewayError::of_read)?;
        let found = self.documents_of(answer.responses.iter())?;
        Ok(found.into_iter().map(|found| found.map(|stored| stored.record)).collect())
    }

    /// Writes all documents of this call, if every precondition holds and no later epoch is known.
    async fn write_documents(
        &self,
        writes: &[DocumentWrite],
        fence: Option<Epoch>,
    ) -> Result<BatchOutcome, StoreError> {
        let keys = &self.keys;
        self.carry_out(|state| {
            let admitted = match fence {
                Some(fence) => state.admit(keys, fence),
                None => Some(Default::default()),
            };
            let Some((mut compare, mut puts)) = admitted else {
                return Plan::Answer(BatchOutcome::Fenced);
            };
            let (mut present, mut revisions) = (Vec::new(), Vec::new());
            for found in &state.documents {
                present.push(found.as_ref().map_or(0, |stored| stored.record.version));
                revisions.push(found.as_ref().map_or(0, |stored| stored.revision));
            }
            if let Some(conflict) = BatchOutcome::conflict(writes, &present) {
                return Plan::Answer(conflict);
            }
            let next = |version: u64| version.saturating_add(1);
            let versions: Vec<u64> = present.into_iter().map(next).collect();
            for ((write, revision), version) in writes.iter().zip(revisions).zip(&versions) {
                let key = keys.document(&write.name);
                compare.push(Compare::written_at(&key, revision));
                puts.push(Op::put(&key, records::document(*version, &write.body)));
            }
            Plan::Write(compare, puts, BatchOutcome::Written(versions))
        })
        .await
    }

    pub(super) async fn history(&self, limit: usize) -> Result<Vec<TermRecord>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let range = Range::last_under(&self.keys.terms, limit);
        let found = self.engine.connection.range(&range).await?;
        let what = || format!("a term of namespace {}", self.namespace);
        found.iter().map(|found| Ok(records::read(found, what)?.record)).collect()
    }

    /// Removes old records, unless a later epoch is known. A leader that is younger than the
    /// silence removes no node.
    pub(super) async fn prune(
        &self,
        fence: Epoch,
        prune: Prune,
    ) -> Result<PruneOutcome, StoreError> {
        let keys = &self.keys;
        let limit = usize::try_from(prune.limit).unwrap_or(usize::MAX);
        let mut state = self.read().await?;
        for _ in 0..ATTEMPTS {
            let Some((mut compare, mut writes)) = state.admit(keys, fence) else {
                return Ok(PruneOutcome::Fenced);
            };
            let present = self.node_records().await?.into_iter();
            let present = present.map(|stored| (stored.record.id, stored.revision));
            let mut nodes = self.engine.cache.with(self.namespace, |cached| {
                cached.unwritten.look(SystemClock.now(), present, prune.dead_for)
            });
            nodes.truncate(limit.min(NODES_MAX));
            let terms = self.engine.connection.range(&Range::under(&keys.terms)).await?;
            let beyond = terms.len().saturating_sub(prune.keep_terms.max(1));
            let beyond = beyond.min(limit - nodes.len());
            let records = u32::try_from(nodes.len() + beyond).unwrap_or(u32::MAX);
            if records == 0 {
                return Ok(PruneOutcome::Pruned { records });
            }
            for (node, revision) in &nodes {
                let key = keys.node(node);
                compare.push(Compare::written_at(&key, *revision));
                writes.push(Op::delete(&key));
            }
            if beyond > 0 {
                let first_kept = String::from_utf8_lossy(&terms[beyond].key);
                writes.push(Op::delete_range(&keys.terms, &first_kept));
            }
            match self.commit(compare, writes).await? {
                (true, _) => return Ok(PruneOutcome::Pruned { records }),
                (false, now) => state = now,
            }
        }
        Err(overtaken(ATTEMPTS))
    }
}
