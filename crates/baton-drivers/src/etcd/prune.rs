//! Old records are removed: nodes that were silent for long, and terms beyond those that are kept.
//!
//! etcd has no clock to ask. So a silence is what this handle saw itself: a record that was not
//! written from one look to another, by the handle's own clock. A leader that is younger than the
//! silence removes no node.

use baton_core::ids::{Epoch, NodeId};
use baton_store::{Prune, PruneOutcome, StoreError};

use super::context::{ATTEMPTS, CallContext, Committed, overtaken};
use super::wire::{Compare, Op, Range};

/// etcd takes no more than 128 operations at once, and the transaction has some of its own.
const NODES_MAX: usize = 100;

impl CallContext<'_> {
    /// Removes them, unless a later epoch is known.
    pub(super) async fn prune(
        &self,
        fence: Epoch,
        prune: Prune,
    ) -> Result<PruneOutcome, StoreError> {
        let keys = self.keys();
        let limit = usize::try_from(prune.limit).unwrap_or(usize::MAX);
        let mut state = self.read().await?;
        for _ in 0..ATTEMPTS {
            if fence < state.highest_epoch() {
                return Ok(PruneOutcome::Fenced);
            }
            let mut nodes = self.silent(prune).await?;
            nodes.truncate(limit.min(NODES_MAX));
            let terms = self.engine.connection.range(&Range::under(&keys.terms)).await?;
            let beyond = terms.len().saturating_sub(prune.keep_terms.max(1));
            let beyond = beyond.min(limit - nodes.len());
            let records = u32::try_from(nodes.len() + beyond).unwrap_or(u32::MAX);
            if records == 0 {
                return Ok(PruneOutcome::Pruned { records });
            }
            let mut compare = state.same_epochs(keys);
            let mut writes: Vec<Op> = state.raised(keys, fence).into_iter().collect();
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
                Committed::Done(_) => return Ok(PruneOutcome::Pruned { records }),
                Committed::Stale(now) => state = *now,
            }
        }
        Err(overtaken(ATTEMPTS))
    }

    /// The nodes that were silent for this long, and at which revision they were last written.
    async fn silent(&self, prune: Prune) -> Result<Vec<(NodeId, i64)>, StoreError> {
        let records = self.node_records().await?.into_iter();
        let present: Vec<_> = records.map(|stored| (stored.record.id, stored.revision)).collect();
        let now = self.now();
        let since = self.engine.cache.unwritten_since(self.namespace, &present, now);
        let silent = present.into_iter().zip(since);
        let silent = silent.filter(|(_, since)| now.since(*since) >= prune.dead_for);
        Ok(silent.map(|(node, _)| node).collect())
    }
}
