//! The plugins of a node, in the order they were registered.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_core::settings::Settings;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::stats::{PluginReport, PluginStats};
use super::supervise::Supervisor;
use super::{Plugin, RestartPolicy};
use crate::drive::{Message, WorkRuntime};
use crate::error::BuildError;
use crate::shared::Shared;
use crate::term::Term;

/// The longest name of a plugin.
const NAME_MAX: usize = 100;

/// Why a plugin was not taken on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPluginName {
    /// Give it a name that can be part of a document's.
    #[error(
        "plugin name {name:?} is {length} bytes long; \
         1 to {NAME_MAX} letters, digits, '-', '_' and '.' are allowed"
    )]
    Unfit {
        /// What it is called.
        name: String,
        /// How long that is.
        length: usize,
    },
    /// Give one of the two another name.
    #[error("plugin name {name:?} is taken by another plugin of this node")]
    Taken {
        /// What it is called.
        name: String,
    },
}

/// A plugin, and all that is asked of it once.
pub(super) struct RegisteredPlugin {
    pub(super) plugin: Arc<dyn Plugin>,
    pub(super) name: String,
    pub(super) interval: Duration,
    pub(super) first_work_after: Duration,
    pub(super) start_timeout: Duration,
    pub(super) work_timeout: Option<Duration>,
    pub(super) restart: RestartPolicy,
    pub(super) ledger: PluginStats,
}

/// Every plugin of a node.
#[derive(Clone)]
pub(crate) struct PluginSet {
    posts: Arc<Mutex<Vec<Arc<RegisteredPlugin>>>>,
    count: watch::Sender<usize>,
    news: watch::Sender<u64>,
    /// Where plugins run: started with the first of them.
    work: WorkRuntime,
    settings: Arc<Settings>,
}

impl PluginSet {
    pub(crate) fn new(
        plugins: Vec<Arc<dyn Plugin>>,
        work: WorkRuntime,
        settings: Arc<Settings>,
    ) -> Result<Self, BuildError> {
        let (count, news) = (watch::channel(0).0, watch::channel(0).0);
        let crew = Self { posts: Arc::default(), count, news, work, settings };
        plugins.into_iter().try_for_each(|plugin| crew.add(plugin))?;
        Ok(crew)
    }

    /// Adds a plugin; if a term runs, it starts at once.
    pub(crate) fn add(&self, plugin: Arc<dyn Plugin>) -> Result<(), BuildError> {
        let name = plugin.name().to_owned();
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(allowed) {
            return Err(InvalidPluginName::Unfit { length: name.len(), name }.into());
        }
        let interval = plugin.work_interval();
        let post = RegisteredPlugin {
            interval,
            first_work_after: plugin.first_work_after(&self.settings),
            start_timeout: plugin.start_timeout(),
            work_timeout: plugin.work_timeout(),
            restart: plugin.restart_policy(),
            ledger: PluginStats::new(&name, interval, self.news.clone()),
            name,
            plugin,
        };
        let mut posts = self.posts.lock().expect("no holder panics");
        if posts.iter().any(|other| other.name == post.name) {
            return Err(InvalidPluginName::Taken { name: post.name }.into());
        }
        self.work.handle()?;
        posts.push(Arc::new(post));
        self.count.send_replace(posts.len());
        Ok(())
    }

    pub(super) fn from(&self, first: usize) -> Vec<Arc<RegisteredPlugin>> {
        self.posts.lock().expect("no holder panics").iter().skip(first).cloned().collect()
    }

    /// Waits until there are more than `known`.
    pub(super) async fn more_than(&self, known: usize) {
        let mut count = self.count.subscribe();
        let more = count.wait_for(|count| *count > known).await;
        more.expect("the sender lives as long as the crew it is asked of");
    }

    /// Counts what is worth telling at once.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// What each did so far.
    pub(crate) fn reports(&self) -> Vec<PluginReport> {
        self.from(0).iter().map(|post| post.ledger.report()).collect()
    }

    /// Looks after them for one term, to the proof that it has stopped.
    pub(crate) async fn serve(self, node: Arc<Shared>, term: Arc<Term>) -> Message {
        Supervisor::new(self, node, term).run().await
    }

    /// Lets every plugin warm up.
    pub(crate) fn prepare(&self) {
        for post in self.from(0) {
            self.runtime().spawn(async move { post.plugin.prepare().await });
        }
    }

    /// Where plugins run. For the node's own thread, which ends after that runtime's last use.
    pub(super) fn runtime(&self) -> Handle {
        self.work.handle().expect("it was started with the first plugin")
    }
}
