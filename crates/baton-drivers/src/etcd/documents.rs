//! The rules of versioned documents.

use baton_core::ids::{Epoch, Namespace};
use baton_store::{Document, Precondition, StoreError, WriteOutcome};

use super::engine::EtcdEngine;
use super::keys::Keys;
use super::record::{self, Record};
use super::sight::{Sight, unchanged};
use super::step::{Committed, Step, TRIES, crowded};
use super::wire::{Compare, Op, Range, RangeAnswer};

/// Reads a document.
pub(super) async fn read(
    engine: &EtcdEngine,
    namespace: &Namespace,
    name: &str,
) -> Result<Option<Document>, StoreError> {
    let keys = Keys::new(&engine.link.config.prefix, namespace);
    let query = Range::key(&keys.document(name));
    let answer: Result<RangeAnswer, _> =
        engine.link.ask("kv/range", &query, engine.link.deadline()).await;
    let found = answer.map_err(super::error::Trouble::of_read)?.kvs;
    let what = || format!("document {name:?} of namespace {namespace}");
    found.first().map(|found| Ok(record::read(found, what)?.record)).transpose()
}

/// Writes a document, fenced if an epoch is given.
pub(super) async fn write(
    engine: &EtcdEngine,
    namespace: &Namespace,
    name: &str,
    body: &[u8],
    precondition: Precondition,
    fence: Option<Epoch>,
) -> Result<WriteOutcome, StoreError> {
    let step = Step::new(engine, namespace, None, Some(name));
    let mut sight = step.look().await?;
    for _ in 0..TRIES {
        if fence.is_some_and(|fence| fence < sight.highest_epoch()) {
            return Ok(WriteOutcome::Fenced);
        }
        let present = sight.document.as_ref().map_or(0, |seen| seen.record.version);
        let holds = match precondition {
            Precondition::Any => true,
            Precondition::Absent => present == 0,
            Precondition::Version(version) => present == version && present != 0,
        };
        if !holds {
            return Ok(WriteOutcome::Conflict(present));
        }
        let next = Document { version: present.saturating_add(1), body: body.to_vec() };
        let (compare, writes) = plan(&step, &sight, name, &next, fence);
        match step.commit(compare, writes).await? {
            Committed::Done(_) => return Ok(WriteOutcome::Written(next.version)),
            Committed::Stale(now) => sight = *now,
        }
    }
    Err(crowded())
}

fn plan(
    step: &Step<'_>,
    sight: &Sight,
    name: &str,
    next: &Document,
    fence: Option<Epoch>,
) -> (Vec<Compare>, Vec<Op>) {
    let keys = step.keys();
    let key = keys.document(name);
    let known = sight.document.as_ref().map_or(0, |seen| seen.revision);
    let mut compare = vec![Compare::written_at(&key, known)];
    let mut writes = vec![Op::put(&key, next.write())];
    if let Some(fence) = fence {
        compare.extend(unchanged(&keys.lease(), &sight.lease));
        compare.extend(unchanged(&keys.fence(), &sight.fence));
        writes.extend(raised(keys, sight, fence));
    }
    (compare, writes)
}

/// The write that makes this epoch the highest that a write carried, if it is not yet.
pub(super) fn raised(keys: &Keys, sight: &Sight, fence: Epoch) -> Option<Op> {
    let known = sight.fence.as_ref().map(|seen| seen.record);
    (known < Some(fence)).then(|| Op::put(&keys.fence(), fence.write()))
}
