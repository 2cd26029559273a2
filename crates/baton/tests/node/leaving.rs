//! Leaving takes `stop_grace` and a second at the most, whatever the work and the store do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::{
    Departure, Leadership, Node, NodeBuilder, Plugin, PluginError, Service, ServiceContext, Store,
};

use crate::cluster::{builder, outage, quick, soon, store, until};

/// Far longer than anything that a test waits for.
const LONG: Duration = Duration::from_secs(60);

fn with_a_long_lease(builder: NodeBuilder) -> Node {
    let mut settings = quick().tune(|it| {
        it.lease_timeout = LONG;
        it.min_epoch_duration = LONG;
    });
    // The store is looked at again soon after an outage.
    settings.circuit_breaker.reset_timeout = Duration::from_millis(500);
    builder.settings(settings).build().expect("it starts")
}

async fn is_held(node: &Node, store: &Arc<dyn Store>) -> bool {
    let seen = store.inspect(node.namespace()).await.expect("it answers");
    seen.lease.expect("it led").holder.is_some()
}

/// Says that it began, and blocks its thread until it is freed.
struct Blocks(Arc<AtomicBool>, Mutex<Receiver<()>>);

#[baton::async_trait]
impl Plugin for Blocks {
    fn name(&self) -> &str {
        "blocks"
    }

    async fn coordinator_work(&self, _: &Leadership) -> Result<(), PluginError> {
        self.0.store(true, Ordering::SeqCst);
        self.1.lock().expect("no holder panics").recv().map_err(Into::into)
    }
}

#[tokio::test]
async fn work_that_ignores_its_end_keeps_the_lease_but_not_the_caller() {
    let store = store();
    let (free, blocked) = channel();
    let began = Arc::<AtomicBool>::default();
    let plugin = Blocks(began.clone(), Mutex::new(blocked));
    let node = with_a_long_lease(builder(&store, "a").plugin(plugin));
    until("the work to begin", || began.load(Ordering::SeqCst)).await;
    assert_eq!(soon("leave to return", node.leave()).await, Departure::Unfinished);
    assert!(is_held(&node, &store).await, "what may still run keeps the lease");
    free.send(()).expect("it waits");
    assert_eq!(soon("the node to leave", node.left()).await, Departure::Left);
    assert!(!is_held(&node, &store).await, "released once the work has ended");
}

#[tokio::test]
async fn a_store_that_does_not_answer_keeps_the_record_but_not_the_caller() {
    let outage = outage(store());
    let store: Arc<dyn Store> = outage.clone();
    let node = with_a_long_lease(builder(&store, "a"));
    until("it to lead", || node.is_leader()).await;
    outage.layer().begin();
    assert_eq!(soon("leave to return", node.leave()).await, Departure::Unfinished);
    assert!(!node.is_leader());
    outage.layer().end();
    assert_eq!(soon("the node to leave", node.left()).await, Departure::Left);
    assert!(!is_held(&node, &store).await);
}

/// Keeps what it is given until it is dropped, and counts that.
struct Keeps<T>(Arc<AtomicUsize>, Mutex<Option<T>>);

impl<T> Keeps<T> {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        Self(count.clone(), Mutex::new(None))
    }

    fn keep(&self, given: T) {
        *self.1.lock().expect("no holder panics") = Some(given);
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[baton::async_trait]
impl Plugin for Keeps<Leadership> {
    fn name(&self) -> &str {
        "plugin"
    }

    fn work_interval(&self) -> Duration {
        LONG
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        self.keep(term.clone());
        Ok(())
    }
}

#[baton::async_trait]
impl Service for Keeps<ServiceContext> {
    fn name(&self) -> &str {
        "service"
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        self.keep(context.clone());
        context.stopped().await;
        Ok(())
    }
}

#[tokio::test]
async fn what_plugins_and_services_keep_does_not_keep_the_node() {
    let kept = Arc::<AtomicUsize>::default();
    let (plugin, service) = (Keeps::<Leadership>::new(&kept), Keeps::<ServiceContext>::new(&kept));
    let builder = builder(&store(), "a").plugin(plugin).service(service);
    let (node, mut events) = builder.build_with_events().expect("it starts");
    until("both to keep theirs", || kept.load(Ordering::SeqCst) == 2).await;
    assert_eq!(soon("leave to return", node.leave()).await, Departure::Left);
    let reported: Vec<String> = node.plugins().into_iter().map(|report| report.name).collect();
    assert_eq!(reported, ["plugin", "service"], "what they did is still told");
    drop(node);
    soon("the events to end", async { while events.next().await.is_some() {} }).await;
    until("both to be dropped", || Arc::strong_count(&kept) == 1).await;
}
