//! Nodes in this process that take partitions, and the command line beside them.

use std::collections::BTreeMap;
use std::time::Duration;

use baton::partitions::{TaskList, partition_task};
use baton::{LifelineConfig, Node, NodeId};
use baton_core::settings::Profile;
use baton_store::clock::{Clock as _, SystemClock};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::{LOOK_EVERY, PATIENCE, Said, Sandbox};

/// Nodes at the sandbox's own store.
pub struct Cluster {
    pub here: Sandbox,
    runtime: Runtime,
    nodes: BTreeMap<String, Node>,
}

impl Cluster {
    /// Without any nodes.
    pub fn new() -> Self {
        let here = Sandbox::new();
        let runtime = Runtime::new().expect("there is room for a runtime");
        std::fs::create_dir_all(here.path("state/baton")).expect("the sandbox can be written to");
        Self { here, runtime, nodes: BTreeMap::new() }
    }

    /// Two nodes with six partitions each of a list that they declare; b has no room for more.
    pub fn of_two() -> Self {
        let mut cluster = Self::new();
        let lists = [TaskList::new("orders".parse().expect("a plain name"), 12)];
        cluster.start("a", &[], &lists);
        cluster.start("b", &[("capacity", "6")], &lists);
        cluster.until_loads("halves", &[("a", 6), ("b", 6)]);
        cluster
    }

    /// A node that takes partitions and declares these lists.
    pub fn start(&mut self, id: &str, labels: &[(&str, &str)], lists: &[TaskList]) {
        let settings = Profile::Fast.settings().tune(|it| {
            it.skip_cold_start = true;
            it.lease_timeout = Duration::from_secs(20);
            it.heartbeat_interval = Duration::from_secs(1);
        });
        let url = format!("sqlite://{}", self.here.database().display());
        let node = self.runtime.block_on(async {
            let store = baton::open(&url).await.expect("the sandbox can be written to");
            let work = partition_task(|owned| async move { owned.released().await });
            let builder = Node::builder(store)
                .id(NodeId::new(id).expect("it is an id"))
                .settings(settings)
                .lifeline(LifelineConfig::off())
                .partitions(work);
            let builder = labels.iter().fold(builder, |it, (name, value)| it.label(*name, *value));
            let builder = lists.iter().cloned().fold(builder, baton::NodeBuilder::task_list);
            builder.build().expect("it starts")
        });
        self.nodes.insert(id.to_owned(), node);
    }

    pub fn node(&self, id: &str) -> &Node {
        &self.nodes[id]
    }

    /// `baton partitions …` on this store.
    pub fn partitions(&self, arguments: &[&str]) -> Said {
        self.here.baton(&[&["partitions"], arguments].concat())
    }

    /// Waits until the status shows what is awaited.
    pub fn until(&self, what: &str, seen: impl Fn(&Value) -> bool) -> Value {
        let gives_up_at = SystemClock.now() + PATIENCE;
        loop {
            let said = self.partitions(&["status", "--json"]);
            let status = (said.code == Some(0)).then(|| said.json());
            if let Some(status) = status.filter(&seen) {
                return status;
            }
            assert!(SystemClock.now() < gives_up_at, "{what}: last seen {said:?}");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Waits until each of these nodes owns so many partitions, and none is on its way.
    pub fn until_loads(&self, what: &str, loads: &[(&str, u64)]) -> Value {
        self.until(what, |status| {
            let is_still = |it: &Value| it["releasing"] == 0;
            let nodes = status["nodes"].as_array().expect("a list");
            nodes.iter().all(is_still)
                && loads.iter().all(|(id, load)| {
                    nodes.iter().any(|it| it["node"] == *id && it["partitions"] == *load)
                })
        })
    }

    /// Waits until this node owns the partition, and is not asked to release it.
    pub fn until_owned(&self, partition: &str, node: &str) -> Value {
        self.until(&format!("{partition} on {node}"), |status| {
            owner(status, partition).is_some_and(|it| it == node)
        })
    }

    /// A partition of this node.
    pub fn one_of(&self, node: &str) -> String {
        let status = self.partitions(&["status", "--json"]).json();
        let owners = status["owners"].as_array().expect("a list");
        let found = owners.iter().find(|it| it["node"] == node).expect("it owns some");
        found["partition"].as_str().expect("it has a name").to_owned()
    }
}

/// The owner of a partition that is not to release it.
pub fn owner<'a>(status: &'a Value, partition: &str) -> Option<&'a str> {
    let is_it = |it: &&Value| it["partition"] == partition && it["is_releasing"] == false;
    status["owners"].as_array()?.iter().find(is_it)?["node"].as_str()
}

#[track_caller]
pub fn assert_said(said: &Said, expected: &str) {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.out.contains(expected), "{expected:?} is not in {:?}", said.out);
}
