//! The nodes, all their events, and a task that counts all the time how many lead.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::{Namespace, Node, NodeId, Stamped};
use baton_cli::attempts::Attempts;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::record::Record;
use crate::error::BenchError;

/// How long the nodes may take to know each other.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often the leaders are counted.
const COUNT_EVERY: Duration = Duration::from_millis(20);

/// Every event of every node, in the order they came.
type EventLog = Arc<Mutex<Vec<Arc<Stamped>>>>;

/// Nodes under observation.
pub struct ObservedNodes {
    nodes: Vec<Node>,
    events: EventLog,
    most_leaders: Arc<AtomicUsize>,
    /// A listener for each node, which ends with it, and the task that counts leaders.
    listeners: JoinSet<()>,
}

impl ObservedNodes {
    /// Starts this many nodes.
    pub async fn start(url: &str, namespace: &Namespace, nodes: u32) -> Result<Self, BenchError> {
        let mut observed = Self {
            nodes: Vec::new(),
            events: EventLog::default(),
            most_leaders: Arc::default(),
            listeners: JoinSet::new(),
        };
        for number in 1..=nodes {
            let store = baton_drivers::open(url).await?;
            let id = NodeId::new(&format!("node-{number:03}")).expect("a plain name");
            let node = Node::builder(store).namespace(namespace.clone()).id(id);
            let (node, mut events) = node.build_with_events()?;
            let log = Arc::clone(&observed.events);
            observed.listeners.spawn(async move {
                while let Some(event) = events.next().await {
                    log.lock().expect("no holder panics").push(event);
                }
            });
            observed.nodes.push(node);
        }
        observed.listeners.spawn(count(observed.nodes.clone(), Arc::clone(&observed.most_leaders)));
        Ok(observed)
    }

    /// Waits until every node has all nodes in view and knows a leader.
    pub async fn settle(&self) -> Result<(), BenchError> {
        let count = self.nodes.len();
        let knows = |node: &Node| node.leader().is_some() && node.active_workers().len() == count;
        let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
        while attempts.next().await {
            if self.nodes.iter().all(knows) {
                return Ok(());
            }
        }
        Err(BenchError::NotSettled { nodes: count, patience: PATIENCE })
    }

    /// Waits until a node leads again and every breaker that opened has closed, for at most
    /// `patience`: the record that is judged later shows what is missing.
    pub async fn wait_for_recovery(&self, back_ms: u64, patience: Duration) {
        let mut attempts = Attempts::new(LOOK_EVERY, patience);
        while attempts.next().await {
            let record = self.record(back_ms, back_ms);
            let closed =
                |node: &Node| node.circuit_breaker_status().state == baton::BreakerState::Closed;
            if record.recovery_ms.is_some() && self.nodes.iter().all(closed) {
                return;
            }
        }
    }

    /// What the events say of the time since the store was lost, and of terms before.
    pub fn record(&self, lost_ms: u64, back_ms: u64) -> Record {
        let events = self.events.lock().expect("no holder panics");
        let most_at_once = self.most_leaders.load(Ordering::SeqCst);
        Record::of(&events, lost_ms, back_ms, most_at_once)
    }

    /// All nodes leave.
    pub async fn leave(mut self) {
        self.listeners.abort_all();
        for node in &self.nodes {
            node.leave().await;
        }
    }
}

async fn count(nodes: Vec<Node>, most: Arc<AtomicUsize>) {
    loop {
        let leaders = nodes.iter().filter(|node| node.is_leader()).count();
        most.fetch_max(leaders, Ordering::SeqCst);
        SystemClock.sleep(COUNT_EVERY).await;
    }
}
