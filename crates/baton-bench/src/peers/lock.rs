//! A lock of another system, as a process of this program has it.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::BenchError;

/// How long a lock outlives a silent holder, where it does: baton's default lease.
pub const TTL: Duration = Duration::from_secs(15);

/// How often its holder says that it is still there: baton's default beat.
pub const RENEW_EVERY: Duration = Duration::from_secs(5);

/// A lock that one process at a time holds.
#[async_trait]
pub trait Lock: Send {
    /// Waits until this process holds it.
    async fn acquire(&mut self) -> Result<(), BenchError>;

    /// Extends its time to live, if it has one.
    async fn renew(&mut self) -> Result<(), BenchError>;

    /// Gives it up.
    async fn release(&mut self) -> Result<(), BenchError>;
}
