//! Plugins: the work that only the coordinator does, supervised one for one.
//!
//! ```text
//!   term starts ──► on_become_coordinator ──► coordinator_work, every work_interval ──┐
//!                        ▲                        │ error or panic                     │
//!                        └──── backoff, limit ◄───┘                                    │
//!   term stops ──► told at the soft deadline ──► cancelled before the hard one ◄───────┘
//!                    └──► on_stop_being_coordinator ──► all ended, nothing held: proved stopped
//! ```
//!
//! A plugin that fails is restarted alone. One that fails too often makes the node hand leadership
//! over: a coordinator that does not do its work is worse than another one.

mod crew;
mod isolate;
mod restart;
mod supervise;

use std::time::Duration;

use async_trait::async_trait;
use baton_core::DemotionReason;

pub use restart::RestartPolicy;

pub(crate) use crew::Crew;

use crate::leadership::Leadership;

/// Why a plugin failed, in its own words.
pub type PluginError = Box<dyn std::error::Error + Send + Sync>;

/// Work that only the coordinator does.
///
/// Every call runs as a task of its own: a panic ends that call and nothing else. A call that is
/// still running at the soft deadline should end when [`Leadership::lost`] says so; shortly before
/// the hard deadline it is cancelled at its next `.await`. A call that blocks its thread cannot be
/// cancelled: it is reported, and the lease is not released until it ends.
#[async_trait]
pub trait Plugin: Send + Sync + 'static {
    /// Its name in events and logs.
    fn name(&self) -> &str;

    /// The time from the end of one call of `coordinator_work` to the start of the next.
    fn work_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// How often and how fast it is started again after a failure.
    fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy::default()
    }

    /// This node is about to be named successor: a good moment to warm up.
    async fn prepare(&self) {}

    /// A term begins. An error counts as a failed start.
    async fn on_become_coordinator(&self, _term: &Leadership) -> Result<(), PluginError> {
        Ok(())
    }

    /// The work, called again and again while the term lasts; never after its window closed.
    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError>;

    /// The term is over, and no call of `coordinator_work` runs any more.
    async fn on_stop_being_coordinator(&self, _reason: DemotionReason) {}
}
