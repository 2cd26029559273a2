//! A namespace as one read shows it, all of it at one revision.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Expiry, LeaseSnapshot, NodeRecord, Version, View};
use baton_core::time::Moment;
use baton_store::{Document, StoreError};

use super::records::{self, LeaseRow, Record, Stored};
use super::schema::Keys;
use super::wire::{Compare, Op, OpAnswer};

/// A lease that is over by our count but not by etcd's, which looks through them every 500 ms, and
/// gives them their whole time again when its leader changes.
const LEFT_MIN: Duration = Duration::from_millis(200);

/// The records that a call may rest on.
#[derive(Clone, Debug, Default)]
pub(super) struct NamespaceState {
    pub(super) lease: Option<Stored<LeaseRow>>,
    /// Every write of the holder key differs from all others, or is attached to another lease.
    pub(super) holder: Option<Stored<Version>>,
    pub(super) fence: Option<Stored<Epoch>>,
    pub(super) view: Option<Stored<Arc<View>>>,
    pub(super) node: Option<Stored<NodeRecord>>,
    /// Those that the call names, in the same order.
    pub(super) documents: Vec<Option<Stored<Document>>>,
}

impl NamespaceState {
    pub(super) fn row(&self) -> Option<&LeaseRow> {
        self.lease.as_ref().map(|stored| &stored.record)
    }

    pub(super) fn held(&self) -> Option<&LeaseRow> {
        self.row().filter(|row| row.record.holder.is_some())
    }

    /// Is the holder key there, with the very lease that the record names? A key that was put back
    /// by hand is attached to no lease, and would never end.
    pub(super) fn is_live(&self) -> bool {
        let key = self.holder.as_ref().map_or(0, |stored| stored.lease);
        self.held().is_some_and(|row| row.lease != 0 && row.lease == key)
    }

    /// The highest epoch that is known here, by a grant or by a write.
    pub(super) fn highest_epoch(&self) -> Epoch {
        let granted = self.row().map_or(Epoch::NONE, |row| row.record.epoch);
        self.fence.as_ref().map_or(granted, |stored| stored.record.max(granted))
    }

    /// The lease was not written since, nor its holder key.
    pub(super) fn same_lease(&self, keys: &Keys) -> Vec<Compare> {
        [unchanged(&keys.lease, &self.lease), unchanged(&keys.holder, &self.holder)].concat()
    }

    /// No epoch above the highest was granted or written since.
    fn same_epochs(&self, keys: &Keys) -> Vec<Compare> {
        [unchanged(&keys.lease, &self.lease), unchanged(&keys.fence, &self.fence)].concat()
    }

    /// What a write that carries this epoch rests on, and the write that makes it the highest if it
    /// is not yet. `None` if a higher one is known.
    pub(super) fn admit(&self, keys: &Keys, fence: Epoch) -> Option<(Vec<Compare>, Vec<Op>)> {
        let known = self.fence.as_ref().map(|stored| stored.record);
        let raised = (known < Some(fence)).then(|| Op::put(&keys.fence, fence.write()));
        (fence >= self.highest_epoch())
            .then(|| (self.same_epochs(keys), raised.into_iter().collect()))
    }
}

pub(super) fn unchanged<T>(key: &str, slot: &Option<Stored<T>>) -> Vec<Compare> {
    match slot {
        None => vec![Compare::absent(key)],
        Some(stored) if stored.lease == 0 => vec![Compare::equals(key, &stored.raw)],
        Some(stored) => {
            vec![Compare::equals(key, &stored.raw), Compare::attached_to(key, stored.lease)]
        }
    }
}

/// The record in an answer, if there is one; `what` names it if it cannot be read.
pub(super) fn stored<T: Record>(
    answer: Option<&OpAnswer>,
    what: impl FnOnce() -> String,
) -> Result<Option<Stored<T>>, StoreError> {
    let found = answer.and_then(|answer| answer.response_range.kvs.first());
    found.map(|found| records::read(found, what)).transpose()
}

/// What is known of etcd leases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownLeases {
    /// The one last seen alive, and when it is over at the latest if it is not renewed.
    pub(super) alive: Option<(i64, Moment)>,
    /// The one known to be gone. None comes back.
    pub(super) gone: Option<i64>,
}

impl KnownLeases {
    /// Is the term over, by etcd's own lease?
    pub(super) fn is_over(self, state: &NamespaceState) -> bool {
        !state.is_live() && state.held().is_some_and(|row| self.gone == Some(row.lease))
    }

    pub(super) fn snapshot(self, state: &NamespaceState, now: Moment) -> Option<LeaseSnapshot> {
        let row = state.row()?;
        let left = match self.alive {
            _ if row.record.holder.is_none() || self.is_over(state) => Duration::ZERO,
            Some((lease, until)) if lease == row.lease => until.since(now).max(LEFT_MIN),
            _ => row.granted,
        };
        Some(row.record.snapshot(Expiry::Left(left)))
    }
}
