//! What one look at a namespace shows, all of it at one revision.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, Namespace, NodeId};
use baton_core::protocol::{Expiry, LeaseSnapshot, NodeRecord, View};
use baton_core::time::Moment;
use baton_store::{Document, StoreError};

use super::keys::Keys;
use super::record::{self, HolderKey, LeaseRow, Record, Seen};
use super::wire::{Compare, Op, OpAnswer, Range};

/// A lease that is over by our count but not by etcd's, which looks through them every 500 ms, and
/// gives them their whole time again when its leader changes.
const LEFT_MIN: Duration = Duration::from_millis(200);

/// A record, or none.
pub(super) type Slot<T> = Option<Seen<T>>;

/// The records a step may depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    pub(super) lease: Slot<LeaseRow>,
    pub(super) holder: Slot<HolderKey>,
    pub(super) fence: Slot<Epoch>,
    pub(super) view: Slot<Arc<View>>,
    pub(super) node: Slot<NodeRecord>,
    pub(super) document: Slot<Document>,
}

impl Sight {
    pub(super) fn row(&self) -> Option<&LeaseRow> {
        self.lease.as_ref().map(|seen| &seen.record)
    }

    /// The row, if somebody holds the lease.
    pub(super) fn held(&self) -> Option<&LeaseRow> {
        self.row().filter(|row| row.holder.is_some())
    }

    /// Is the holder key there, with the very lease that the record names? A key that somebody put
    /// back by hand goes with no lease, and would never end.
    pub(super) fn is_live(&self) -> bool {
        let key = self.holder.as_ref().map_or(0, |seen| seen.lease);
        self.held().is_some_and(|row| row.lease != 0 && row.lease == key)
    }

    /// The highest epoch that is known here, by a grant or by a write.
    pub(super) fn highest_epoch(&self) -> Epoch {
        let granted = self.row().map_or(Epoch::NONE, |row| row.epoch);
        self.fence.as_ref().map_or(granted, |seen| seen.record.max(granted))
    }
}

/// Nobody wrote it since.
pub(super) fn unchanged<T>(key: &str, slot: &Slot<T>) -> Vec<Compare> {
    match slot {
        None => vec![Compare::absent(key)],
        Some(seen) if seen.lease == 0 => vec![Compare::says(key, &seen.raw)],
        Some(seen) => vec![Compare::says(key, &seen.raw), Compare::goes_with(key, seen.lease)],
    }
}

/// Which records are to be looked at.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) keys: Keys,
    pub(super) namespace: Namespace,
    pub(super) node: Option<NodeId>,
    pub(super) document: Option<String>,
    /// The view as it is known; it is read only if there is another.
    pub(super) view: Slot<Arc<View>>,
}

impl Look {
    /// The operations that read them.
    pub(super) fn operations(&self) -> Vec<Op> {
        let keys = &self.keys;
        let known = self.view.as_ref().map_or(0, |seen| seen.revision);
        let mut ranges = vec![
            Range::key(&keys.lease()),
            Range::key(&keys.holder()),
            Range::key(&keys.fence()),
            Range::key_after(&keys.view(), known),
        ];
        ranges.extend(self.node.iter().map(|node| Range::key(&keys.node(node))));
        ranges.extend(self.document.iter().map(|name| Range::key(&keys.document(name))));
        ranges.into_iter().map(Op::Range).collect()
    }

    /// Their answers, in the same order.
    pub(super) fn read(&self, answers: &[OpAnswer]) -> Result<Sight, StoreError> {
        let space = &self.namespace;
        let mut answers = answers.iter();
        let mut sight = Sight {
            lease: slot(answers.next(), || format!("the lease of namespace {space}"))?,
            holder: slot(answers.next(), || format!("the holder key of namespace {space}"))?,
            fence: slot(answers.next(), || format!("the fence of namespace {space}"))?,
            ..Sight::default()
        };
        let view = answers.next();
        sight.view = slot(view, || format!("the view of namespace {space}"))?;
        let is_there = view.and_then(|answer| answer.response_range.as_ref());
        if sight.view.is_none() && is_there.is_some_and(|range| range.count.0 > 0) {
            sight.view.clone_from(&self.view);
        }
        if let Some(node) = &self.node {
            sight.node = slot(answers.next(), || format!("node {node} of namespace {space}"))?;
        }
        if let Some(name) = &self.document {
            let what = || format!("document {name:?} of namespace {space}");
            sight.document = slot(answers.next(), what)?;
        }
        Ok(sight)
    }
}

fn slot<T: Record>(
    answer: Option<&OpAnswer>,
    what: impl FnOnce() -> String,
) -> Result<Slot<T>, StoreError> {
    let found = answer.and_then(|answer| answer.response_range.as_ref());
    let found = found.and_then(|range| range.kvs.first());
    found.map(|found| record::read(found, what)).transpose()
}

/// What is known of etcd leases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    /// The one last seen alive, and when it is over at the latest if nobody renews it.
    pub(super) alive: Option<(i64, Moment)>,
    /// The one known to be gone. None comes back.
    pub(super) gone: Option<i64>,
}

impl Life {
    /// Is the term over, by etcd's own lease?
    pub(super) fn is_over(self, sight: &Sight) -> bool {
        !sight.is_live() && sight.held().is_some_and(|row| self.gone == Some(row.lease))
    }

    /// The lease as a reply shows it.
    pub(super) fn snapshot(self, sight: &Sight, now: Moment) -> Option<LeaseSnapshot> {
        let row = sight.row()?;
        let left = match self.alive {
            _ if row.holder.is_none() || self.is_over(sight) => Duration::ZERO,
            Some((lease, until)) if lease == row.lease => until.since(now).max(LEFT_MIN),
            _ => row.granted,
        };
        Some(LeaseSnapshot {
            version: row.version(),
            holder: row.holder.clone(),
            successor: row.successor.clone(),
            ttl: row.ttl,
            expiry: Expiry::Left(left),
            lineage: super::LINEAGE,
            asked: row.asked.clone(),
        })
    }
}
