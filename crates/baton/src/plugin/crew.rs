//! The plugins of a node, and the task that looks after them for one term.

use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::supervise::Supervisor;
use super::{Plugin, isolate};
use crate::shared::Shared;
use crate::term::Term;

/// Every plugin of a node, in the order they were registered.
#[derive(Clone)]
pub(crate) struct Crew {
    plugins: Arc<Mutex<Vec<Arc<dyn Plugin>>>>,
    count: watch::Sender<usize>,
    runtime: tokio::runtime::Handle,
}

impl Crew {
    pub(crate) fn new(plugins: Vec<Arc<dyn Plugin>>, runtime: tokio::runtime::Handle) -> Self {
        let count = watch::channel(plugins.len()).0;
        Self { plugins: Arc::new(Mutex::new(plugins)), count, runtime }
    }

    /// Adds a plugin; if a term runs, it starts at once.
    pub(crate) fn add(&self, plugin: Arc<dyn Plugin>) {
        let mut plugins = self.plugins.lock().expect("no holder panics");
        plugins.push(plugin);
        self.count.send_replace(plugins.len());
    }

    pub(super) fn from(&self, first: usize) -> Vec<Arc<dyn Plugin>> {
        self.plugins.lock().expect("no holder panics").iter().skip(first).cloned().collect()
    }

    /// Waits until there are more than `known`.
    pub(super) async fn more_than(&self, known: usize) {
        let mut count = self.count.subscribe();
        let more = count.wait_for(|count| *count > known).await;
        more.expect("the sender lives as long as the crew it is asked of");
    }

    /// Starts the term's work. The reports go to the node's thread.
    pub(crate) fn start_term(&self, node: Arc<Shared>, term: Arc<Term>) {
        let supervisor = Supervisor::new(self.clone(), node, term);
        self.runtime.spawn(supervisor.run());
    }

    /// Lets every plugin warm up.
    pub(crate) fn prepare(&self) {
        for plugin in self.from(0) {
            self.runtime.spawn(async move { plugin.prepare().await });
        }
    }
}

pub(super) use isolate::isolated;
