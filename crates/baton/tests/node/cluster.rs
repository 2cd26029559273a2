//! Several nodes on one store, and ways to wait for what they do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton::{
    Event, Events, LifelineConfig, Namespace, Node, NodeBuilder, NodeId, Settings, Stamped, Store,
    StoreError, async_trait,
};
use baton_store::clock::{Clock, SystemClock};
use baton_store::memory::MemoryStore;
use baton_store::wrap::{Layer, Wrapped};
use baton_store::{Answer, Backend, Call, Capability, Class, Declaration, ExpiryClock};

/// Long enough for anything that is to happen at all.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A single server that pushes nothing, like the embedded store.
pub fn store() -> Arc<dyn Store> {
    memory()
}

/// The same, whose data can be put back to an older copy.
pub fn memory() -> Arc<MemoryStore> {
    let declaration = Declaration {
        name: "memory".to_owned(),
        class: Class::SingleServer,
        expiry: ExpiryClock::Store,
        capabilities: [Capability::MemberAge, Capability::Lineage].into(),
    };
    Arc::new(MemoryStore::new(declaration, Arc::new(SystemClock)))
}

/// A lease of a second and a half, for tests that must see one run out.
pub fn quick() -> Settings {
    let ms = Duration::from_millis;
    Settings::default().tune(|it| {
        it.lease_timeout = ms(1_500);
        it.heartbeat_interval = ms(250);
        it.heartbeat_jitter = ms(25);
        it.request_timeout = ms(200);
        it.safety_margin = ms(50);
        it.stop_grace = ms(300);
        it.worker_timeout = ms(1_000);
        it.dead_node_timeout = ms(2_000);
        it.startup_jitter_max = ms(50);
        it.cold_start_observation_window = ms(50);
        it.election_interval = ms(250);
        it.takeover_delay = ms(20);
        it.takeover_stagger = ms(5);
        it.min_epoch_duration = ms(2_000);
    })
}

pub fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("test names are valid")
}

/// A node on the quick settings, without a lifeline.
pub fn builder(store: &Arc<dyn Store>, name: &str) -> NodeBuilder {
    let lifeline = LifelineConfig::off();
    Node::builder(store.clone()).id(id(name)).settings(quick()).lifeline(lifeline)
}

/// Waits for a future, though not for ever.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::select! {
        done = future => done,
        () = SystemClock.sleep(PATIENCE) => unreachable!("waited in vain for {what}"),
    }
}

/// Waits for an event that passes the test, past any other.
pub async fn event(events: &mut Events, what: &str, test: impl Fn(&Event) -> bool) -> Arc<Stamped> {
    let waiting = async {
        loop {
            let event = events.next().await.expect("the node goes on");
            if test(&event.event) {
                return event;
            }
        }
    };
    soon(what, waiting).await
}

/// Waits until the question is answered with yes.
pub async fn until(what: &str, question: impl Fn() -> bool) {
    let waiting = async {
        while !question() {
            SystemClock.sleep(Duration::from_millis(2)).await;
        }
    };
    soon(what, waiting).await;
}

/// Cuts every node off from a store while it lasts.
#[derive(Default)]
pub struct Outage(AtomicBool, AtomicBool);

impl Outage {
    /// The next call finds a bug in the driver.
    pub fn break_once(&self) {
        self.1.store(true, Ordering::SeqCst);
    }

    pub fn begin(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn end(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

#[async_trait]
impl Layer for Outage {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        call: Call,
    ) -> Result<Answer, StoreError> {
        assert!(!self.1.swap(false, Ordering::SeqCst), "a bug of the driver's, on purpose");
        if self.0.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable { detail: "an outage".to_owned() });
        }
        inner.call(namespace, call).await
    }
}

/// A store that can be cut off.
pub fn outage(store: Arc<dyn Store>) -> Arc<Wrapped<Outage>> {
    Arc::new(Wrapped::new(store, Outage::default()))
}
