//! Services: they run on every node, are started again when they fail, and have ended before their
//! node's record is removed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::{
    Departure, Event, LifelineConfig, Node, NodeBuilder, PluginError, PluginStatus, RestartPolicy,
    Service, ServiceContext, Store, WorkKind, async_trait, service,
};
use tempfile::TempDir;

use crate::cluster::{builder, event, quick, soon, store, until};

/// A store in memory, and one in a file that is gone with the test.
async fn stores() -> (Vec<Arc<dyn Store>>, TempDir) {
    let folder = tempfile::tempdir().expect("there is room");
    let url = format!("sqlite://{}", folder.path().join("services.db").display());
    let file = baton::open(&url).await.expect("a new file");
    (vec![store(), file], folder)
}

/// Counts its starts and its ends, and runs until it is to stop.
#[derive(Clone, Default)]
struct Runs {
    begun: Arc<AtomicU32>,
    ended: Arc<AtomicU32>,
}

impl Runs {
    fn service(&self) -> impl Service {
        let runs = self.clone();
        service("runs", move |context| {
            let runs = runs.clone();
            async move {
                runs.begun.fetch_add(1, Ordering::SeqCst);
                context.stopped().await;
                runs.ended.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
        })
    }

    fn read(&self) -> (u32, u32) {
        (self.begun.load(Ordering::SeqCst), self.ended.load(Ordering::SeqCst))
    }
}

fn built(builder: NodeBuilder) -> Node {
    builder.build().expect("it starts")
}

async fn is_recorded(node: &Node, store: &Arc<dyn Store>) -> bool {
    let members = store.members(node.namespace()).await.expect("it answers");
    members.iter().any(|member| member.record.id == *node.id())
}

#[tokio::test]
async fn a_service_runs_on_the_leader_and_on_followers_and_appears_in_reports() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let runs = ["a", "b", "c"].map(|_| Runs::default());
        let nodes: Vec<Node> = ["a", "b", "c"]
            .into_iter()
            .zip(&runs)
            .map(|(name, runs)| built(builder(&store, name).service(runs.service())))
            .collect();
        until("all three", || runs.iter().all(|runs| runs.read() == (1, 0))).await;
        until("a leader", || nodes.iter().any(Node::is_leader)).await;
        for (node, runs) in nodes.iter().zip(&runs) {
            let report = &node.plugins()[0];
            assert_eq!((report.name.as_str(), report.kind), ("runs", WorkKind::Service));
            assert_eq!(report.doing, PluginStatus::Working);
            assert!(node.node_metrics().to_string().contains("plugin=\"runs\",kind=\"service\""));
            assert_eq!(node.leave().await, Departure::Left);
            assert_eq!(runs.read(), (1, 1), "it was told to stop, and waited for");
        }
    }
}

/// Ends badly until it has been started this often.
struct Fails(Arc<AtomicU32>, u32);

#[async_trait]
impl Service for Fails {
    fn name(&self) -> &str {
        "fails"
    }

    fn restart_policy(&self) -> RestartPolicy {
        let mut policy = RestartPolicy::default();
        (policy.limit, policy.backoff_min) = (3, Duration::from_millis(1));
        policy
    }

    async fn run(&self, context: &ServiceContext) -> Result<(), PluginError> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            run if run >= self.1 => context.stopped().await,
            run if run % 2 == 0 => unreachable!("on purpose"),
            _ => return Err("not yet".into()),
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_service_that_panics_or_fails_is_started_again_and_the_node_leads_on() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let begun = Arc::<AtomicU32>::default();
        let node = built(builder(&store, "a").service(Fails(begun.clone(), 3)));
        until("the fourth start", || begun.load(Ordering::SeqCst) == 4).await;
        until("it to lead", || node.is_leader()).await;
        let report = &node.plugins()[0];
        assert_eq!((report.failures, report.restarts), (3, 3));
        assert_eq!(report.doing, PluginStatus::Working);
    }
}

#[tokio::test]
async fn a_service_that_fails_too_often_stays_ended_and_the_node_leads_on() {
    let store = store();
    let (node, mut events) = builder(&store, "a")
        .service(Fails(Arc::default(), u32::MAX))
        .build_with_events()
        .expect("it starts");
    let last = |event: &Event| matches!(event, Event::PluginFailed { restart_in_ms: None, .. });
    event(&mut events, "the last failure", last).await;
    assert_eq!(node.plugins()[0].doing, PluginStatus::GaveUp);
    drop(soon("the term", node.leadership()).await.expect("it leads"));
    assert_eq!(node.leave().await, Departure::Left);
}

#[tokio::test]
async fn a_service_that_hangs_delays_neither_beats_nor_the_release_and_keeps_the_record() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let (free, blocked) = std::sync::mpsc::channel::<()>();
        let (begun, blocked) = (Arc::<AtomicU32>::default(), Arc::new(Mutex::new(blocked)));
        let hangs = service("hangs", {
            let begun = begun.clone();
            move |_| {
                let (begun, blocked) = (begun.clone(), blocked.clone());
                async move {
                    begun.fetch_add(1, Ordering::SeqCst);
                    let freed = blocked.lock().expect("no holder panics").recv();
                    freed.map_err(PluginError::from)
                }
            }
        });
        let (node, mut events) =
            builder(&store, "a").service(hangs).build_with_events().expect("it starts");
        until("the service", || begun.load(Ordering::SeqCst) == 1).await;
        drop(soon("the term", node.leadership()).await.expect("it leads"));
        let beats = node.metrics().heartbeat_count;
        until("beats beside it", || node.metrics().heartbeat_count > beats).await;

        assert_eq!(soon("leave to return", node.leave()).await, Departure::Unfinished);
        let stuck = |event: &Event| matches!(event, Event::PluginIgnoredCancellation { .. });
        event(&mut events, "the service to be reported", stuck).await;
        let lease = store.inspect(node.namespace()).await.expect("it answers").lease;
        assert!(lease.expect("it led").holder.is_none(), "the lease does not wait for it");
        let beats = node.metrics().heartbeat_count;
        until("beats of a leaving node", || node.metrics().heartbeat_count > beats + 1).await;
        assert!(is_recorded(&node, &store).await, "others see that something of it still runs");

        free.send(()).expect("it waits");
        assert_eq!(soon("the node to leave", node.left()).await, Departure::Left);
        assert!(!is_recorded(&node, &store).await);
    }
}

#[tokio::test]
async fn a_service_that_ignores_its_end_is_cancelled_within_the_grace_before_the_record_goes() {
    let store = store();
    let dropped = Arc::<Mutex<Option<bool>>>::default();
    /// Notes on its end whether the node was still recorded.
    struct Notes(Arc<Mutex<Option<bool>>>, ServiceContext);
    impl Drop for Notes {
        fn drop(&mut self) {
            let registered = self.1.snapshot().is_registered;
            *self.0.lock().expect("no holder panics") = Some(registered);
        }
    }
    let ignores = service("ignores", {
        let dropped = dropped.clone();
        move |context: ServiceContext| {
            let notes = Notes(dropped.clone(), context);
            async move {
                let _notes = notes;
                std::future::pending().await
            }
        }
    });
    let node = built(builder(&store, "a").service(ignores));
    until("it to be registered", || node.is_registered()).await;
    let grace = quick().stop_grace;
    let began = baton::clock::now();
    assert_eq!(node.leave().await, Departure::Left);
    assert!(baton::clock::now().since(began) >= grace / 2, "it had its time");
    assert_eq!(*dropped.lock().expect("no holder panics"), Some(true));
    assert!(!is_recorded(&node, &store).await);
}

#[tokio::test]
async fn a_service_added_to_a_running_node_starts_at_once_and_can_be_stopped_before_it() {
    let store = store();
    let node = built(builder(&store, "a"));
    until("it to lead", || node.is_leader()).await;
    let runs = Runs::default();
    let handle = node.add_service(runs.service()).expect("its name is its own");
    let taken = node.add_service(runs.service()).expect_err("one of that name is there");
    assert!(taken.to_string().contains("\"runs\" is taken"), "{taken}");
    until("the service", || runs.read() == (1, 0)).await;
    soon("the service to stop", handle.stop(Duration::from_secs(5))).await;
    assert_eq!(runs.read(), (1, 1));
    assert!(node.plugins().is_empty() && node.is_leader());
    node.add_service(runs.service()).expect("the name is free again");
    until("the second one", || runs.read() == (2, 1)).await;
    assert_eq!(node.leave().await, Departure::Left);
    assert_eq!(runs.read(), (2, 2));
}

#[tokio::test]
async fn hints_of_a_topic_reach_the_service_of_that_name_on_another_node_and_any_number_is_one() {
    let store = store();
    let heard = Arc::<AtomicU32>::default();
    let listens = |heard: Arc<AtomicU32>| {
        service("bell", move |context: ServiceContext| {
            let heard = heard.clone();
            async move {
                loop {
                    tokio::select! {
                        () = context.stopped() => return Ok(()),
                        () = context.hinted() => heard.fetch_add(1, Ordering::SeqCst),
                    };
                }
            }
        })
    };
    let sent = Arc::<AtomicU32>::default();
    let rings = service("bell", {
        let sent = sent.clone();
        move |context: ServiceContext| {
            let sent = sent.clone();
            async move {
                let to = crate::cluster::id("b");
                while !context.is_stopping() {
                    sent.fetch_add(u32::from(context.hint(&to).await), Ordering::SeqCst);
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
        }
    });
    let lifeline = LifelineConfig::default;
    let other = built(builder(&store, "b").lifeline(lifeline()).service(listens(heard.clone())));
    let node = built(builder(&store, "a").lifeline(lifeline()).service(rings));
    until("a hint", || heard.load(Ordering::SeqCst) > 0).await;
    until("a flood", || sent.load(Ordering::SeqCst) > 200).await;
    assert!(heard.load(Ordering::SeqCst) <= sent.load(Ordering::SeqCst));
    assert!(node.is_leader() || other.is_leader(), "no flood of theirs takes the lease");
}
