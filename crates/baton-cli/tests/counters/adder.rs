//! A process that adds: this program again, told by its environment where and how often.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use baton::plugins::counters::{Counters, CountersConfig};
use baton::{Namespace, Store};
use baton_store::clock::{Clock, SystemClock};
use baton_store::wrap::Faults;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::fixture::Fixture;

/// The counter that every adder adds to.
pub const TOTAL: &str = "total";

/// Tells a process that it is an adder.
const ORDER: &str = "BATON_TEST_ADDER";

const TEST: &str = "adder::an_adder_adds_from_its_own_process";

/// What an adder is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub url: String,
    /// The counter of its own.
    pub own: String,
    pub tasks: u64,
    /// How often each task adds.
    pub rounds: u64,
    /// The number of parts into which the rounds are divided.
    pub parts: u64,
    /// How many parts may begin, as a number in this file.
    pub gate: PathBuf,
    /// One call in this number meets a fault in the adder's own process; 0 for none.
    pub one_in: u64,
}

impl Order {
    /// How often it adds.
    pub fn additions(&self) -> i64 {
        i64::try_from(self.tasks * self.rounds).expect("a test's own number")
    }
}

/// An adder that runs. Killed when it is dropped.
pub struct Adder(std::process::Child);

impl Adder {
    pub fn start(order: &Order) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
        command.args(["--exact", TEST, "--nocapture", "--test-threads=1"]);
        command.env(ORDER, serde_json::to_string(order).expect("plain data"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.spawn().expect("the program is there"))
    }

    /// Has it ended well? `None` while it runs.
    pub fn ended(&mut self) -> Option<bool> {
        self.0.try_wait().expect("it is ours").map(|status| status.success())
    }
}

impl Drop for Adder {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_adder_adds_from_its_own_process() {
    if let Ok(order) = std::env::var(ORDER) {
        return obey(serde_json::from_str(&order).expect("plain data")).await;
    }
    let fixture = Fixture::file();
    let store = fixture.open().await;
    let gate = fixture.path("gate");
    std::fs::write(&gate, "2").expect("the folder is ours");
    let (url, own) = (fixture.url(), "alone".to_owned());
    let order = Order { url, own, tasks: 4, rounds: 10, parts: 2, gate, one_in: 0 };
    let mut adder = Adder::start(&order);
    let ended = baton_testbed::wait::until("its end", async || adder.ended()).await;
    assert!(ended, "it says above what went wrong");
    let counters = Counters::new(store, namespace());
    assert_eq!(counters.get(TOTAL).await, Ok(40));
    assert_eq!(counters.get("alone").await, Ok(40));
    assert_eq!(counters.get_consolidated(TOTAL).await, Ok(0), "no node leads");
}

/// Where every adder counts.
pub fn namespace() -> Namespace {
    Namespace::new("counting").expect("it is a name")
}

async fn obey(order: Order) {
    let store: Arc<dyn Store> = baton_drivers::open(&order.url).await.expect("the store is there");
    let store = match order.one_in {
        0 => store,
        one_in => Arc::new(Faults::seeded(store, std::process::id().into(), one_in)),
    };
    let config = CountersConfig::default().tune(|it| it.deadline = Duration::from_secs(120));
    let counters = Counters::with_config(store, namespace(), config);
    let mut tasks = JoinSet::new();
    for _ in 0..order.tasks {
        let (counters, order) = (counters.clone(), order.clone());
        tasks.spawn(async move {
            for round in 0..order.rounds {
                opened(&order.gate, round * order.parts / order.rounds).await;
                counters.add(TOTAL, 1).await.expect("it is tried for two minutes");
                counters.add(&order.own, 1).await.expect("it is tried for two minutes");
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("every addition is counted");
    }
}

/// Waits until this part may begin.
async fn opened(gate: &Path, part: u64) {
    let open = || std::fs::read_to_string(gate).ok()?.parse::<u64>().ok();
    while open().is_none_or(|parts| parts <= part) {
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
}
