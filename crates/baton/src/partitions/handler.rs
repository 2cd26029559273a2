//! What an application does with the partitions of its node.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use baton_core::partition::{Partition, Token};
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use tokio_util::sync::CancellationToken;

use crate::shared::Shared;

/// Until when this process may act for its partitions, as every thread can read it: a thread that
/// was paused cannot keep a partition.
#[derive(Debug, Default)]
pub(super) struct OwnershipWindow(AtomicU64);

impl OwnershipWindow {
    pub(super) fn set(&self, until: Moment) {
        self.0.store(until.as_micros(), Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        SystemClock.now() < self.until()
    }

    pub(super) fn until(&self) -> Moment {
        Moment::from_micros(self.0.load(Ordering::Acquire))
    }
}

/// A partition that this node was given.
#[derive(Clone)]
pub struct OwnedPartition {
    pub(super) partition: Partition,
    pub(super) token: Token,
    /// Cancelled when it is to be stopped.
    pub(super) release: CancellationToken,
    pub(super) window: Arc<OwnershipWindow>,
    /// Where its failures are told. The node holds what it owns, and not the other way round.
    pub(super) node: Weak<Shared>,
}

impl OwnedPartition {
    /// Which partition.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Rises with every owner of the partition: what carries a lower one comes from a former owner.
    /// Fences take it as they take an epoch. Each partition has one of its own:
    ///
    /// ```
    /// # use baton::drivers::sqlite::{fence::{Fence, FenceError}, rusqlite::Connection};
    /// # use baton::partitions::OwnedPartition;
    /// # fn example(db: &mut Connection, owned: &OwnedPartition) -> Result<(), FenceError> {
    /// let fence = Fence::new(&owned.partition().to_string());
    /// fence.write(db, owned.token(), |work| work.execute("UPDATE orders SET …", ()))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn token(&self) -> Token {
        self.token
    }

    /// May this process still act for the partition? Computed from the clock at each call: false
    /// once the partition is to be released, or the node has not reached the store for too long.
    pub fn is_owned(&self) -> bool {
        !self.release.is_cancelled() && self.window.is_open()
    }

    /// Waits until the partition is to be stopped: another node is to own it, its task list was
    /// changed, or this node can no longer tell that it owns it. Cancel safe.
    pub async fn released(&self) {
        self.release.cancelled().await;
    }

    /// By when work that was told to stop must have stopped: another node may own the partition
    /// from then on. It moves on with each beat that the store has written.
    pub fn deadline(&self) -> Moment {
        self.window.until()
    }

    /// Waits until this process may not act for the partition any more, whatever it was told.
    pub(super) async fn cut_off(&self) {
        while self.window.is_open() {
            SystemClock.sleep(self.deadline().since(SystemClock.now())).await;
        }
    }
}

impl std::fmt::Debug for OwnedPartition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (partition, token, is_owned) = (&self.partition, self.token, self.is_owned());
        write!(f, "OwnedPartition({partition}, {token:?}, is_owned: {is_owned})")
    }
}

/// What an application does with the partitions of its node. Partitions are independent of each
/// other: calls about different ones run side by side.
/// [`partition_task`](super::partition_task) makes one from a closure.
#[async_trait]
pub trait PartitionHandler: Send + Sync + 'static {
    /// This node owns the partition from now on.
    async fn on_assigned(&self, owned: OwnedPartition);

    /// This node is to own the partition no longer. Its work has stopped when this returns: then
    /// another node may begin. Called once `on_assigned` has returned.
    async fn on_release(&self, owned: &OwnedPartition);
}
