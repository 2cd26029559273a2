//! Three nodes, the first of which leads. Its beats are timed, and its calls for pages counted.

use std::time::Duration;

use baton::{Namespace, Node, NodeId, Profile, ScheduledJob, Settings, cron};
use baton_cli::attempts::Attempts;
use baton_store::clock::{Clock, SystemClock};

use super::fires::{Fire, FireLog};
use super::leader_calls::PageCalls;
use crate::beats::BeatTimes;
use crate::error::BenchError;

/// How many nodes there are.
const NODES: u32 = 3;

/// How often they beat: often enough for percentiles of a minute.
pub const BEAT_EVERY: Duration = Duration::from_millis(200);

/// How long they may take to settle.
const PATIENCE: Duration = Duration::from_secs(60);

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Three nodes.
pub struct Cluster {
    nodes: Vec<Node>,
    /// What beats of the leader took.
    pub beats: BeatTimes,
    /// The leader's calls for pages.
    pub calls: PageCalls,
    /// What was started, on any node.
    pub log: FireLog,
}

/// The fast profile, with shorter beats.
fn beat_often(settings: &mut Settings) {
    settings.heartbeat_interval = BEAT_EVERY;
    settings.heartbeat_jitter = BEAT_EVERY / 10;
    settings.request_timeout = BEAT_EVERY;
    settings.startup_jitter_max = BEAT_EVERY;
    settings.takeover_delay = BEAT_EVERY / 5;
    settings.takeover_stagger = BEAT_EVERY / 40;
    settings.skip_cold_start = true;
}

impl Cluster {
    /// Starts them, with one schedule that is never due: the work of schedules is there, and has
    /// nothing to do.
    pub async fn start(
        url: &str,
        namespace: &Namespace,
        one_handle: bool,
    ) -> Result<Self, BenchError> {
        let (beats, calls, log) = (BeatTimes::default(), PageCalls::default(), FireLog::default());
        let mut cluster = Self { nodes: Vec::new(), beats, calls, log };
        let runtime = tokio::runtime::Handle::current();
        for number in 1..=NODES {
            let mut store = baton_drivers::open(url).await?;
            if number == 1 {
                store = cluster.beats.of(cluster.calls.of(store));
            }
            let id = NodeId::new(&format!("node-{number}")).expect("a plain name");
            let idle = cron("idle", "@yearly", |_| async { Ok(()) });
            let node = Node::builder(store).namespace(namespace.clone()).id(id);
            let mut node = node.profile(Profile::Fast).tune(beat_often).schedule(idle);
            if !one_handle {
                let store = baton_drivers::open(url).await?;
                node =
                    node.schedule_store(if number == 1 { cluster.calls.of(store) } else { store });
            }
            cluster.nodes.push(node.runtime(runtime.clone()).build()?);
            cluster.settle().await?;
        }
        Ok(cluster)
    }

    /// Waits until the first node leads, and all of them know all of them.
    async fn settle(&self) -> Result<(), BenchError> {
        let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
        let leads = || self.nodes.first().is_some_and(Node::is_leader);
        while attempts.next().await {
            let knows = |node: &Node| node.active_workers().len() == self.nodes.len();
            if leads() && self.nodes.iter().all(knows) {
                SystemClock.sleep(2 * BEAT_EVERY).await;
                return Ok(());
            }
        }
        Err(BenchError::NotSettled { nodes: self.nodes.len(), patience: PATIENCE })
    }

    /// Gives every node this many schedules of every second.
    pub fn declare(&self, schedules: u32) -> Result<(), BenchError> {
        for node in &self.nodes {
            for schedule in 0..schedules {
                node.set_schedule(every_second(schedule, &self.log))?;
            }
        }
        Ok(())
    }

    /// Takes them away again.
    pub fn withdraw(&self, schedules: u32) {
        for node in &self.nodes {
            for schedule in 0..schedules {
                node.remove_schedule(&name(schedule));
            }
        }
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

fn name(schedule: u32) -> String {
    format!("every-second-{schedule:04}")
}

/// A schedule whose work is to note that it was started.
fn every_second(schedule: u32, log: &FireLog) -> ScheduledJob {
    let log = log.clone();
    cron(name(schedule), "* * * * * *", move |run| {
        let started_ms = SystemClock.wall_ms();
        let (slot_ms, attempt) = (run.id().at_ms, run.attempt());
        let epoch = run.term().epoch().0;
        log.push(Fire { schedule, slot_ms, attempt, epoch, started_ms });
        async { Ok(()) }
    })
}
