//! A store with schedules: a node in this process declares them, leads, and runs them.

use std::sync::Arc;
use std::time::Duration;

use baton::plugins::schedules::{Misfire, OnCrash, Overlap, ScheduledJob, own_namespace};
use baton::{Namespace, Node, NodeId, PluginError, cron};
use baton_core::settings::Profile;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::support::{LOOK_EVERY, PATIENCE, Said, Sandbox};

/// Schedules that are not due within a test, unless it lasts over New Year.
pub const NEVER: &str = "0 0 1 1 *";

/// A leader with schedules, and the command line beside it.
pub struct Leader {
    pub here: Sandbox,
    runtime: Runtime,
    node: Option<Node>,
    url: String,
    /// Each permit lets one run of `slow` end.
    pub go: Arc<Semaphore>,
}

/// Of every kind one: done, failed, waiting for a permit.
fn jobs(go: &Arc<Semaphore>) -> [ScheduledJob; 3] {
    let report = cron("report", "0 2 1 1 *", |_| async { Ok(()) }).tz("Europe/Berlin");
    let report = report.misfire(Misfire::CatchUp { cap: 5, age_ms: 7_200_000 });
    let report = report.on_crash(OnCrash::Skip).jitter(Duration::from_secs(10));
    let broken = cron("broken", NEVER, |_| async { Err::<(), PluginError>("exit code 3".into()) });
    let go = go.clone();
    let slow = cron("slow", NEVER, move |_| {
        let go = go.clone();
        async move {
            go.acquire().await.map(tokio::sync::SemaphorePermit::forget)?;
            Ok(())
        }
    });
    let slow = slow.overlap(Overlap::Queue).timeout(Duration::ZERO).retries(2);
    [report, broken, slow]
}

/// A node that leads and declares these.
async fn led(id: &str, url: &str, namespace: Namespace, jobs: &[ScheduledJob]) -> Node {
    let settings = Profile::Fast.settings().tune(|it| {
        it.skip_cold_start = true;
        it.lease_timeout = Duration::from_secs(20);
        it.heartbeat_interval = Duration::from_secs(1);
    });
    let store = baton::open(url).await.expect("the sandbox can be written to");
    let id = NodeId::new(id).expect("it is an id");
    let builder = Node::builder(store).id(id).namespace(namespace).settings(settings);
    let builder = jobs.iter().cloned().fold(builder, baton::NodeBuilder::schedule);
    let node = builder.build().expect("it starts");
    drop(node.leadership().await.expect("it leads"));
    node
}

impl Leader {
    pub fn new() -> Self {
        let here = Sandbox::new();
        let url = format!("sqlite://{}", here.path("app.db").display());
        let runtime = Runtime::new().expect("there is room for a runtime");
        let go = Arc::new(Semaphore::new(0));
        let default = Namespace::new("default").expect("it is a name");
        let node = runtime.block_on(led("web-1", &url, default, &jobs(&go)));
        let leader = Self { here, runtime, node: Some(node), url, go };
        leader.until("the schedules", &["list", "--json"], |said| {
            said.json().as_array().is_some_and(|all| all.len() == 3)
        });
        leader
    }

    /// `baton schedules …` on this store.
    pub fn schedules(&self, arguments: &[&str]) -> Said {
        let store = ["--store", self.url.as_str()];
        self.here.baton(&[&["schedules"], arguments, &store].concat())
    }

    /// Waits until the command shows what is awaited.
    pub fn until(&self, what: &str, arguments: &[&str], seen: impl Fn(&Said) -> bool) -> Said {
        use baton_store::clock::{Clock as _, SystemClock};
        let gives_up_at = SystemClock.now() + PATIENCE;
        loop {
            let said = self.schedules(arguments);
            if seen(&said) {
                return said;
            }
            assert!(SystemClock.now() < gives_up_at, "{what}: last seen {said:?}");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// A schedule with a node of its own, as `baton run --cron` has.
    pub fn add_own(&self, name: &str) -> Node {
        let job = cron(name, NEVER, |_| async { Ok(()) });
        let default = Namespace::new("default").expect("it is a name");
        let own = own_namespace(&default, name).expect("it is short");
        self.runtime.block_on(led("web-2", &self.url, own, &[job]))
    }

    /// The node of the namespace itself leads no more.
    pub fn leave(&mut self) {
        if let Some(node) = self.node.take() {
            self.runtime.block_on(node.leave());
        }
    }
}
