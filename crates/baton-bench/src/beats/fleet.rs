//! Many nodes in one process, each with a store handle of its own.

use std::time::Duration;

use baton::{
    Leadership, Namespace, Node, NodeBuilder, NodeId, Plugin, PluginError, Settings, async_trait,
};
use baton_cli::attempts::Attempts;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Resource, getrlimit, setrlimit};

use super::timed::BeatTimes;
use crate::error::BenchError;

/// How long a fleet may take to settle.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long a plugin's call may take.
const WORKS_WITHIN: Duration = Duration::from_secs(300);

/// Nodes that all know each other once they have settled.
pub struct Fleet {
    nodes: Vec<Node>,
    times: BeatTimes,
}

/// A plugin that does nothing.
struct IdlePlugin(String);

#[async_trait]
impl Plugin for IdlePlugin {
    fn name(&self) -> &str {
        &self.0
    }

    fn work_interval(&self) -> Duration {
        Duration::from_secs(600)
    }

    async fn coordinator_work(&self, _term: &Leadership) -> Result<(), PluginError> {
        Ok(())
    }
}

/// Gives a node this many plugins.
pub fn with_idle_plugins(node: NodeBuilder, plugins: u32) -> NodeBuilder {
    (1..=plugins).fold(node, |node, number| node.plugin(IdlePlugin(format!("plugin-{number}"))))
}

/// Every handle has files of its own, and the usual limit is 1,024.
pub fn allow_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer files a large fleet fails to open its stores, and says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

impl Fleet {
    /// Starts this many nodes, each made ready by its number. The others join the leader: that a
    /// whole fleet without a leader reads each other's records is not what is counted here.
    pub async fn start(
        url: &str,
        namespace: &Namespace,
        nodes: u32,
        configure: impl Fn(NodeBuilder, u32) -> NodeBuilder,
    ) -> Result<Self, BenchError> {
        let mut fleet = Self { nodes: Vec::new(), times: BeatTimes::default() };
        let runtime = tokio::runtime::Handle::current();
        for number in 1..=nodes {
            let store = fleet.times.of(baton_drivers::open(url).await?);
            let id = NodeId::new(&format!("node-{number:03}")).expect("a plain name");
            let node = Node::builder(store).namespace(namespace.clone()).id(id);
            let node = configure(node, number).runtime(runtime.clone());
            fleet.nodes.push(node.build()?);
            if number == 1 {
                fleet.settle().await?;
            }
        }
        Ok(fleet)
    }

    /// Waits until every node has all nodes in view, and for one more beat.
    pub async fn settle(&self) -> Result<(), BenchError> {
        let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
        while attempts.next().await {
            let knows = |node: &Node| {
                node.leader().is_some() && node.active_workers().len() == self.nodes.len()
            };
            if self.nodes.iter().all(knows) {
                let Settings { heartbeat_interval, heartbeat_jitter, .. } = Settings::default();
                SystemClock.sleep(heartbeat_interval + heartbeat_jitter).await;
                return Ok(());
            }
        }
        Err(BenchError::NotSettled { nodes: self.nodes.len(), patience: PATIENCE })
    }

    /// Gives the first node a plugin, and says how many milliseconds its first call took.
    pub async fn work_once(&self, plugin: impl Plugin) -> Result<f64, BenchError> {
        let (first, name) = (&self.nodes[0], plugin.name().to_owned());
        first.add_plugin(plugin)?;
        let mut attempts = Attempts::new(LOOK_EVERY, WORKS_WITHIN);
        while attempts.next().await {
            let reports = first.plugins();
            let done = reports.into_iter().find(|report| report.name == name);
            let Some(done) = done.filter(|report| report.runs > 0) else { continue };
            let Some(run) = done.last else { continue };
            return match run.error {
                None => Ok(run.took_ms),
                Some(error) => Err(BenchError::Plugin { name, error }),
            };
        }
        let error = format!("did not come to an end in {} s", WORKS_WITHIN.as_secs());
        Err(BenchError::Plugin { name, error })
    }

    /// Beats of all nodes that came through, by their own count.
    pub fn beats(&self) -> u64 {
        self.nodes.iter().map(|node| node.metrics().heartbeat_count).sum()
    }

    /// Discards the times so far.
    pub fn forget_times(&self) {
        drop(self.times.take());
    }

    /// The times of beats since the last call, in milliseconds.
    pub fn times_ms(&self) -> Vec<f64> {
        self.times.take()
    }

    /// All nodes leave.
    pub async fn leave(self) {
        let mut leaving = tokio::task::JoinSet::new();
        for node in self.nodes {
            leaving.spawn(async move { node.leave().await });
        }
        leaving.join_all().await;
    }
}
