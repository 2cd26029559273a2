//! What the suite asks of whoever hands a driver to it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Namespace};

use crate::election::Store;

/// How long and how much. A driver whose time is real chooses short leases and fewer increments.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The leases that the cases take.
    pub ttl: Duration,
    /// How much later than the ttl a lease may still be found live.
    pub lateness: Duration,
    /// How many increments each of the 64 workers makes.
    pub increments: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(10), lateness: Duration::ZERO, increments: 1_000 }
    }
}

/// A store under test, and what can be done to it.
///
/// What cannot be arranged is said with `Ok(false)` or `None`, and the report counts it. An `Err`
/// is a failure of the arrangement itself, and fails the case.
#[async_trait]
pub trait Subject: Send + Sync {
    /// A fresh handle, with a connection of its own, on the same data.
    async fn open(&self) -> Arc<dyn Store>;

    /// A namespace that nobody has used, with this label in its name. At most 100 bytes long.
    fn namespace(&self, label: &str) -> Namespace;

    /// Lets this much time pass by the clock that judges leases. May be dropped in between.
    async fn pass(&self, span: Duration);

    /// How long and how much.
    fn pace(&self) -> Pace;

    /// Stops the store and starts it again with its data.
    async fn restart(&self) -> Result<bool, String>;

    /// Keeps a copy of the namespace's data, in place of the last one.
    async fn keep_copy(&self, namespace: &Namespace) -> Result<bool, String>;

    /// Puts the copy back, as a restored backup or a promoted replica would.
    async fn restore_copy(&self, namespace: &Namespace) -> Result<(), String>;

    /// Overwrites the namespace's lease with something that is not a lease.
    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String>;

    /// A handle whose session is in the time zone +02:00.
    async fn open_in_another_zone(&self) -> Option<Arc<dyn Store>>;

    /// Kills the process of this boot, which has beaten, so that nothing of it can act any more.
    async fn kill(&self, boot: BootId) -> Result<bool, String>;

    /// Steps the wall clock of this machine's side by so many minutes; the store's data stays.
    async fn step_wall(&self, minutes: i64) -> Result<bool, String>;
}
