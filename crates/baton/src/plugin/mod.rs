//! Plugins: the work that only the leader does, supervised one for one.
//!
//! ```text
//!   term starts ──► on_become_coordinator ──► coordinator_work, every work_interval ──┐
//!                        ▲                        │ error, panic, timeout              │
//!                        └──── backoff, limit ◄───┘                                    │
//!   term stops ──► told at the soft deadline ──► cancelled before the hard one ◄───────┘
//!                    └──► on_stop_being_coordinator ──► all ended, nothing held: proved stopped
//!
//!   plugin_set  plugins and services of a node   stats    what each did: runs, failures, next
//!   supervise   one term of the plugins, on      report_document  the reports, for all to read
//!               the node's own thread            state    what a plugin keeps between terms
//!   caller      calls, pauses after failures,    restart  when again, and when no more
//!               and whose fault they are; for
//!               services too
//!   isolate     one call, on the work threads
//! ```
//!
//! A plugin that fails is restarted alone. One that fails too often makes the node hand leadership
//! over: a leader that does not do its work is worse than another one. A failure while the
//! store cannot be reached does not count.

mod caller;
mod isolate;
mod plugin_set;
mod report_document;
mod restart;
mod state;
mod stats;
mod supervise;

use std::time::Duration;

use async_trait::async_trait;
use baton_core::DemotionReason;
use baton_core::settings::Settings;

pub use plugin_set::InvalidPluginName;
pub use report_document::PluginReportDocument;
pub use restart::RestartPolicy;
pub use state::{PluginState, StateError};
pub use stats::{PluginReport, PluginStatus, Run, WorkKind};

pub(crate) use caller::{Caller, Purpose, Registered};
pub(crate) use isolate::panic_message;
pub(crate) use plugin_set::PluginSet;
pub(crate) use report_document::DOCUMENT;
pub(crate) use restart::Restarts;
pub(crate) use supervise::Supervisor;

use crate::leadership::Leadership;

/// Why a plugin failed, in its own words.
pub type PluginError = Box<dyn std::error::Error + Send + Sync>;

/// Work that only the leader does. [`every`] makes one from a closure.
///
/// Every call runs as a task of its own, on threads of its own: a panic ends that call and nothing
/// else, and neither a beat nor a deadline waits for it. How it ends when it is told to:
///
/// | A call that | is |
/// |---|---|
/// | returns an error or panics | started again after a pause; too often, and the node hands over |
/// | fails while the store cannot be reached | started again after a pause, however often |
/// | takes longer than its timeout | cancelled at its next `.await`, which counts as a failure |
/// | still runs at the soft deadline | told by [`Leadership::lost`] |
/// | still runs shortly before the hard one | cancelled at its next `.await` |
/// | blocks its thread | reported; the lease is not released until it ends |
///
/// Name, interval, timeouts and policy are asked for once, when the plugin is registered.
///
/// ```
/// use baton::{Leadership, Plugin, PluginError, async_trait};
///
/// struct Invoices;
///
/// #[async_trait]
/// impl Plugin for Invoices {
///     fn name(&self) -> &str {
///         "invoices"
///     }
///     async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
///         println!("epoch {} sends invoices", term.epoch());
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Plugin: Send + Sync + 'static {
    /// Its name in events and logs, which no other plugin of the node has: 1 to 100 letters,
    /// digits, `-`, `_` and `.`.
    fn name(&self) -> &str;

    /// The time from the end of one call of `coordinator_work` to the start of the next.
    fn work_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// How long after its start in a term the first call of `coordinator_work` comes, at a node
    /// with these settings; at once unless given. For work that needs to have heard from the other
    /// nodes, for instance: the wait is no part of a call.
    fn first_work_after(&self, _settings: &Settings) -> Duration {
        Duration::ZERO
    }

    /// How long one call of `coordinator_work` may take; as long as the term lasts unless given.
    fn work_timeout(&self) -> Option<Duration> {
        None
    }

    /// How long `on_become_coordinator` may take. A leader that is still starting its plugins
    /// leads and does nothing.
    fn start_timeout(&self) -> Duration {
        Duration::from_secs(60)
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

/// Work that is done every so often, by the leader alone.
///
/// ```
/// # use std::time::Duration;
/// use baton::{Node, every};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let report = every("report", Duration::from_secs(60), |term| async move {
///     println!("epoch {} reports", term.epoch());
///     Ok(())
/// });
/// let node = Node::builder(baton::open("sqlite://app.db").await?).plugin(report).build()?;
/// # node.leave().await;
/// # Ok(())
/// # }
/// ```
pub fn every<F, Work>(name: impl Into<String>, interval: Duration, work: F) -> Every<F>
where
    F: Fn(Leadership) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    let restart = RestartPolicy::default();
    Every { name: name.into(), interval, timeout: None, restart, work }
}

/// What [`every`] makes.
#[derive(Debug)]
#[must_use = "a plugin works once a node has it"]
pub struct Every<F> {
    name: String,
    interval: Duration,
    timeout: Option<Duration>,
    restart: RestartPolicy,
    work: F,
}

impl<F> Every<F> {
    /// How long one call may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How often and how fast it is started again after a failure.
    pub fn restart(mut self, policy: RestartPolicy) -> Self {
        self.restart = policy;
        self
    }
}

#[async_trait]
impl<F, Work> Plugin for Every<F>
where
    F: Fn(Leadership) -> Work + Send + Sync + 'static,
    Work: Future<Output = Result<(), PluginError>> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn work_interval(&self) -> Duration {
        self.interval
    }

    fn work_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn restart_policy(&self) -> RestartPolicy {
        self.restart
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        (self.work)(term.clone()).await
    }
}
