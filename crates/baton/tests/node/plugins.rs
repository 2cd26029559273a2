//! Plugins: all of them run on the leader, each fails alone, and all have stopped before the
//! lease is given away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use baton::{
    DemotionReason, Event, Leadership, NodeBuilder, Plugin, PluginError, PluginReport,
    RestartPolicy, Store, async_trait, every,
};
use baton_store::clock::{Clock, SystemClock};

use crate::cluster::{builder, event, outage, quick, soon, store, until};

/// What a plugin did so far.
#[derive(Default)]
struct Counts {
    started: AtomicU32,
    worked: AtomicU32,
    stopped: AtomicU32,
}

impl Counts {
    fn read(&self) -> [u32; 3] {
        [&self.started, &self.worked, &self.stopped].map(|count| count.load(Ordering::SeqCst))
    }
}

/// How a plugin behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Works,
    Panics,
    Errs,
    NeverStarts,
    WaitsForTheEnd,
    IgnoresTheEnd,
}

struct Probe(&'static str, Manner, Arc<Counts>);

fn probe(name: &'static str, manner: Manner) -> (Probe, Arc<Counts>) {
    let counts = Arc::<Counts>::default();
    (Probe(name, manner, counts.clone()), counts)
}

#[async_trait]
impl Plugin for Probe {
    fn name(&self) -> &str {
        self.0
    }

    fn work_interval(&self) -> Duration {
        Duration::from_millis(5)
    }

    fn restart_policy(&self) -> RestartPolicy {
        let backoff_min = Duration::from_millis(1);
        RestartPolicy::default().tune(|it| {
            it.limit = 3;
            it.backoff_min = backoff_min;
        })
    }

    async fn on_become_coordinator(&self, _: &Leadership) -> Result<(), PluginError> {
        self.2.started.fetch_add(1, Ordering::SeqCst);
        if self.1 == Manner::NeverStarts { Err("no disk".into()) } else { Ok(()) }
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        assert!(term.may_start_work(), "no call starts after the window closed");
        self.2.worked.fetch_add(1, Ordering::SeqCst);
        match self.1 {
            Manner::Works | Manner::NeverStarts => Ok(()),
            Manner::Panics => unreachable!("on purpose"),
            Manner::Errs => Err("the queue is full".into()),
            Manner::WaitsForTheEnd => {
                term.lost().await;
                Ok(())
            }
            Manner::IgnoresTheEnd => {
                SystemClock.sleep(Duration::from_secs(3_600)).await;
                Ok(())
            }
        }
    }

    async fn on_stop_being_coordinator(&self, _: DemotionReason) {
        self.2.stopped.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn every_plugin_runs_on_the_coordinator_and_on_no_other_node() {
    let store = store();
    let (probes, counts): (Vec<_>, Vec<_>) =
        ["x", "y", "z"].map(|name| probe(name, Manner::Works)).into_iter().unzip();
    let leader = probes.into_iter().fold(builder(&store, "a"), NodeBuilder::plugin);
    let leader = leader.build().expect("it starts");
    until("three calls of each", || counts.iter().all(|it| it.read()[1] >= 3)).await;
    let (idle, idles) = probe("x", Manner::Works);
    let other = builder(&store, "b").plugin(idle).build().expect("it starts");
    until("the other to be known", || leader.active_workers().len() == 2).await;
    assert_eq!(idles.read(), [0, 0, 0]);
    leader.leave().await;
    let after: Vec<_> = counts.iter().map(|it| it.read()).collect();
    until("the other to work", || idles.read()[1] >= 3).await;
    let later: Vec<_> = counts.iter().map(|it| it.read()).collect();
    assert_eq!(after, later, "nothing of the first term runs any more");
    assert!(after.iter().all(|[started, _, stopped]| (*started, *stopped) == (1, 1)));
    assert!(other.is_leader());
}

#[tokio::test]
async fn a_plugin_that_panics_is_restarted_alone_until_the_node_hands_over() {
    let store = store();
    let (bad, counts) = probe("bad", Manner::Panics);
    let (good, goods) = probe("good", Manner::Works);
    let node = builder(&store, "a").plugin(good).plugin(bad).build().expect("it starts");
    let mut events = node.events();
    for restart in [Some(1), Some(2), Some(4), None] {
        let failed = |event: &Event| matches!(event, Event::PluginFailed { .. });
        let told = event(&mut events, "a failure", failed).await;
        let Event::PluginFailed { plugin, error, restart_in_ms } = &told.event else {
            unreachable!("it was waited for");
        };
        assert_eq!((plugin.as_str(), *restart_in_ms), ("bad", restart));
        assert!(error.contains("panicked") && error.contains("on purpose"), "{error}");
    }
    let demoted = |event: &Event| matches!(event, Event::CoordinatorDemoted { .. });
    let told = event(&mut events, "the node to hand over", demoted).await;
    let json = serde_json::to_string(&told.event).expect("plain data");
    assert!(json.contains("plugins-failed"), "{json}");
    until("all to have stopped", || goods.read()[2] == 1).await;
    assert_eq!(counts.read()[..2], [4, 4]);
}

#[tokio::test]
async fn failures_count_only_while_the_store_can_be_reached() {
    let outage = outage(store());
    let store: Arc<dyn Store> = outage.clone();
    let fails = Arc::<AtomicBool>::default();
    let work = every("work", Duration::from_millis(1), {
        let fails = fails.clone();
        move |_| {
            let failed = fails.load(Ordering::SeqCst);
            async move { if failed { Err("no answer".into()) } else { Ok(()) } }
        }
    });
    let ms = Duration::from_millis(1);
    let none = RestartPolicy::default().tune(|it| {
        it.limit = 0;
        it.backoff_min = ms;
        it.backoff_max = ms;
    });
    // The window must not close meanwhile, however slow the machine is.
    let minute = Duration::from_secs(60);
    let long = quick().tune(|it| {
        it.lease_timeout = minute;
        it.min_epoch_duration = minute;
    });
    let node = builder(&store, "a").settings(long).plugin(work.restart(none));
    let node = node.build().expect("it starts");
    let mut events = node.events();
    let report = || node.plugins()[0].clone();
    until("the work to begin", || report().runs > 0).await;

    outage.layer().begin();
    fails.store(true, Ordering::SeqCst);
    until("many failures", || report().failures >= 10).await;
    fails.store(false, Ordering::SeqCst);
    let before = report();
    let good = |now: PluginReport| now.runs - now.failures > before.runs - before.failures;
    until("a call that succeeds", || good(report())).await;
    outage.layer().end();
    until("a beat", || node.circuit_breaker_status().failure_count == 0).await;
    while let Some(told) = events.try_next() {
        assert!(!matches!(told.event, Event::CoordinatorDemoted { .. }), "{told:?}");
    }

    fails.store(true, Ordering::SeqCst);
    let demoted = |event: &Event| matches!(event, Event::CoordinatorDemoted { .. });
    let told = event(&mut events, "the node to hand over", demoted).await;
    let json = serde_json::to_string(&told.event).expect("plain data");
    assert!(json.contains("plugins-failed"), "{json}");
}

#[tokio::test]
async fn a_plugin_that_does_not_start_moves_leadership_on() {
    let store = store();
    let (bad, _) = probe("bad", Manner::NeverStarts);
    let first = builder(&store, "a").plugin(bad).build().expect("it starts");
    let second = builder(&store, "b").build().expect("it starts");
    soon("the second to lead", second.leadership()).await.expect("it leads");
    assert!(!first.is_leader());
    let terms = store.history(first.namespace(), 10).await.expect("it answers");
    let ended = serde_json::to_string(&terms[1].ended).expect("plain data");
    assert!(ended.contains("plugins-failed"), "{ended}");
}

#[tokio::test]
async fn an_error_is_told_in_the_plugins_own_words() {
    let store = store();
    let (bad, _) = probe("bad", Manner::Errs);
    let node = builder(&store, "a").plugin(bad).build().expect("it starts");
    let mut events = node.events();
    let failed = |event: &Event| matches!(event, Event::PluginFailed { .. });
    let told = event(&mut events, "a failure", failed).await;
    let json = serde_json::to_string(&*told).expect("plain data");
    assert!(json.contains("the queue is full"), "{json}");
}

#[tokio::test]
async fn work_is_cancelled_before_the_deadline_and_only_then_is_the_lease_released() {
    for manner in [Manner::WaitsForTheEnd, Manner::IgnoresTheEnd] {
        let store = store();
        let (work, counts) = probe("work", manner);
        let node = builder(&store, "a").plugin(work).build().expect("it starts");
        until("the work to begin", || counts.read()[1] == 1).await;
        let mut events = node.events();
        soon("the node to leave", node.leave()).await;
        assert_eq!(counts.read(), [1, 1, 1]);
        let mut overran = 0;
        while let Some(told) = events.try_next() {
            overran += u32::from(matches!(told.event, Event::TermOverran { .. }));
        }
        assert_eq!(overran, 0, "an async call can be cancelled in time");
    }
}

#[tokio::test]
async fn a_plugin_subscribed_on_a_running_coordinator_starts_at_once() {
    let store = store();
    let node = builder(&store, "a").build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    let (late, counts) = probe("late", Manner::Works);
    node.add_plugin(late).expect("its name is its own");
    until("the late one to work", || counts.read()[1] >= 2).await;
    assert_eq!(counts.read()[0], 1);
}

#[tokio::test]
async fn a_call_that_blocks_its_thread_holds_the_lease_back_until_it_ends() {
    struct Blocks(Arc<Counts>, std::sync::Mutex<std::sync::mpsc::Receiver<()>>);
    #[async_trait]
    impl Plugin for Blocks {
        fn name(&self) -> &str {
            "blocks"
        }
        async fn coordinator_work(&self, _: &Leadership) -> Result<(), PluginError> {
            self.0.worked.fetch_add(1, Ordering::SeqCst);
            let freed = self.1.lock().expect("no holder panics").recv();
            freed.map_err(Into::into)
        }
    }
    let store = store();
    let counts = Arc::<Counts>::default();
    let (free, blocked) = std::sync::mpsc::channel();
    let plugin = Blocks(counts.clone(), std::sync::Mutex::new(blocked));
    let node = builder(&store, "a").plugin(plugin).build().expect("it starts");
    until("the work to begin", || counts.read()[1] == 1).await;
    let mut events = node.events();
    node.resign();
    let stuck = |event: &Event| matches!(event, Event::PluginIgnoredCancellation { .. });
    event(&mut events, "the plugin to be reported", stuck).await;
    let held = store.inspect(node.namespace()).await.expect("it answers").lease.expect("held");
    assert!(held.holder.is_some(), "what may still run keeps the lease from being released");
    free.send(()).expect("it waits");
    node.leave().await;
    assert_eq!(soon("the node to leave", node.left()).await, baton::Departure::Left);
}
