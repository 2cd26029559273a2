//! Old records go: nodes that were silent for long, and terms beyond those that are kept.
//!
//! etcd tells no time. So a silence is what this handle saw itself: a record that nobody wrote,
//! from one look to another, by the handle's own clock. A leader that is younger than the
//! silence removes no node.

use baton_core::ids::{Epoch, Namespace, NodeId};
use baton_core::protocol::NodeRecord;
use baton_store::{Prune, PruneOutcome, StoreError};

use super::documents::raised;
use super::engine::EtcdEngine;
use super::error::Trouble;
use super::record;
use super::sight::unchanged;
use super::step::{Committed, Step, TRIES, crowded};
use super::wire::{Compare, KeyValue, Op, Range, RangeAnswer};

/// etcd takes no more than 128 operations at once, and the step has some of its own.
const NODES_MAX: usize = 100;

/// Lets them go, unless a later epoch is known.
pub(super) async fn prune(
    engine: &EtcdEngine,
    namespace: &Namespace,
    fence: Epoch,
    prune: Prune,
) -> Result<PruneOutcome, StoreError> {
    let step = Step::new(engine, namespace, None, None);
    let keys = step.keys();
    let limit = usize::try_from(prune.limit).unwrap_or(usize::MAX);
    let mut sight = step.look().await?;
    for _ in 0..TRIES {
        if fence < sight.highest_epoch() {
            return Ok(PruneOutcome::Fenced);
        }
        let mut nodes = silent(engine, namespace, &step, prune).await?;
        nodes.truncate(limit.min(NODES_MAX));
        let terms = found(engine, &Range::under(&keys.terms())).await?;
        let beyond = terms.len().saturating_sub(prune.keep_terms.max(1)).min(limit - nodes.len());
        let gone = u32::try_from(nodes.len() + beyond).unwrap_or(u32::MAX);
        if gone == 0 {
            return Ok(PruneOutcome::Pruned { records: 0 });
        }
        let mut compare = unchanged(&keys.lease(), &sight.lease);
        compare.extend(unchanged(&keys.fence(), &sight.fence));
        let mut writes: Vec<Op> = raised(keys, &sight, fence).into_iter().collect();
        for (node, revision) in &nodes {
            let key = keys.node(node);
            compare.push(Compare::written_at(&key, *revision));
            writes.push(Op::delete(&key));
        }
        if beyond > 0 {
            let first_kept = String::from_utf8_lossy(&terms[beyond].key.0);
            writes.push(Op::delete_range(&keys.terms(), &first_kept));
        }
        match step.commit(compare, writes).await? {
            Committed::Done(_) => return Ok(PruneOutcome::Pruned { records: gone }),
            Committed::Stale(now) => sight = *now,
        }
    }
    Err(crowded())
}

/// The nodes that nobody heard of for so long, and at which revision they were last written.
async fn silent(
    engine: &EtcdEngine,
    namespace: &Namespace,
    step: &Step<'_>,
    prune: Prune,
) -> Result<Vec<(NodeId, i64)>, StoreError> {
    let records = found(engine, &Range::under(&step.keys().nodes())).await?;
    let mut present = Vec::with_capacity(records.len());
    for found in &records {
        let what = || format!("a node of namespace {namespace}");
        let seen = record::read::<NodeRecord>(found, what)?;
        present.push((seen.record.id, seen.revision));
    }
    let now = step.now();
    let since = engine.memories.unwritten_since(namespace, &present, now);
    let silent = present.into_iter().zip(since);
    let silent = silent.filter(|(_, since)| now.since(*since) >= prune.dead_for);
    Ok(silent.map(|(node, _)| node).collect())
}

async fn found(engine: &EtcdEngine, query: &Range) -> Result<Vec<KeyValue>, StoreError> {
    let answer: Result<RangeAnswer, _> =
        engine.link.ask("kv/range", query, engine.link.deadline()).await;
    Ok(answer.map_err(Trouble::of_read)?.kvs)
}
