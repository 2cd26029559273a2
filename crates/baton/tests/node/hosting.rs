//! The host of plugins: names, timeouts, state between terms, ledgers, and who is left unharmed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use baton::{
    Event, InvalidPluginName, NodeId, Plugin, PluginError, PluginReportDocument, PluginStatus,
    RestartPolicy, StateError, every,
};
use baton_store::clock::{Clock, SystemClock};

use crate::cluster::{builder, event, soon, store, until};

const MS: Duration = Duration::from_millis(1);

/// Counts its calls.
fn counting(name: &str) -> (impl Plugin, Arc<AtomicU32>) {
    let calls = Arc::<AtomicU32>::default();
    let counted = calls.clone();
    let plugin = every(name, 2 * MS, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok(()))
    });
    (plugin, calls)
}

/// Waits for a few calls more.
async fn works_on(calls: &AtomicU32) {
    let so_far = calls.load(Ordering::SeqCst);
    until("more calls", || calls.load(Ordering::SeqCst) >= so_far + 3).await;
}

#[tokio::test]
async fn a_name_is_a_plugins_own_and_fit_for_a_document() {
    let named = |name: &str| every(name, MS, |_| std::future::ready(Ok(())));
    let store = store();
    let twice = builder(&store, "a").plugin(named("x")).plugin(named("x")).build();
    let message = twice.expect_err("must be refused").to_string();
    assert_eq!(message, "plugin name \"x\" is taken by another plugin of this node");
    let long = "x".repeat(101);
    for name in ["", "a b", "a/b", "a\nb", long.as_str()] {
        let refused = builder(&store, "a").plugin(named(name)).build();
        let message = refused.expect_err("must be refused").to_string();
        let (length, most) = (format!("{} bytes", name.len()), "1 to 100 letters");
        assert!(message.contains(&length) && message.contains(most), "{message}");
    }
    let node = builder(&store, "a").plugin(named("x")).build().expect("it starts");
    let late = node.add_plugin(named("x")).expect_err("the name is taken");
    let taken = InvalidPluginName::Taken { name: "x".to_owned() };
    assert_eq!(late.to_string(), taken.to_string());
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_and_counts_as_a_failure() {
    let store = store();
    let (good, calls) = counting("good");
    let slow = every("slow", MS, |_| async {
        SystemClock.sleep(Duration::from_secs(3_600)).await;
        Ok(())
    });
    let policy = RestartPolicy::default().tune(|it| {
        it.limit = 2;
        it.backoff_min = MS;
    });
    let slow = slow.timeout(20 * MS).restart(policy);
    let node = builder(&store, "a").plugin(good).plugin(slow).build().expect("it starts");
    let mut events = node.events();
    for again in [true, true, false] {
        let failed = |event: &Event| matches!(event, Event::PluginFailed { .. });
        let told = event(&mut events, "a failure", failed).await;
        let Event::PluginFailed { plugin, error, restart_in_ms } = &told.event else {
            unreachable!("it was waited for");
        };
        assert_eq!((plugin.as_str(), restart_in_ms.is_some()), ("slow", again));
        assert_eq!(error, "it took longer than its timeout of 20ms");
    }
    let demoted = |event: &Event| matches!(event, Event::CoordinatorDemoted { .. });
    event(&mut events, "the node to hand over", demoted).await;
    works_on(&calls).await;
    let slow = node.plugins().into_iter().find(|report| report.name == "slow");
    let slow = slow.expect("it is registered");
    assert!(slow.failures >= 3 && slow.p50_ms >= 20.0, "{slow:?}");
}

#[tokio::test]
async fn a_plugin_that_blocks_its_thread_harms_neither_the_others_nor_the_beat() {
    let store = store();
    let (good, calls) = counting("good");
    let (free, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = std::sync::Mutex::new(blocked);
    let began = Arc::<AtomicU32>::default();
    let begins = began.clone();
    let stuck = every("stuck", MS, move |_| {
        begins.fetch_add(1, Ordering::SeqCst);
        let freed = blocked.lock().expect("no holder panics").recv();
        std::future::ready(freed.map_err(PluginError::from))
    });
    let stuck = stuck.timeout(10 * MS);
    let node = builder(&store, "a").plugin(stuck).plugin(good).build().expect("it starts");
    let mut events = node.events();
    until("the block", || began.load(Ordering::SeqCst) == 1).await;
    let ignored = |event: &Event| matches!(event, Event::PluginIgnoredCancellation { .. });
    let told = event(&mut events, "the plugin to be reported", ignored).await;
    assert_eq!(told.event.names()[1], "plugin:stuck:ignored-cancellation");
    let beats = node.metrics().heartbeat_count;
    until("beats go on", || node.metrics().heartbeat_count >= beats + 3).await;
    works_on(&calls).await;
    assert!(node.is_leader());
    drop(free);
    soon("the node to leave", node.leave()).await;
}

#[tokio::test]
async fn what_a_plugin_keeps_is_there_for_the_next_term_and_an_old_term_cannot_touch_it() {
    let store = store();
    let first = builder(&store, "a").build().expect("it starts");
    let old = soon("the first term", first.leadership()).await.expect("it leads");
    let state = old.state("invoices");
    assert_eq!(state.read::<u32>().await.expect("it answers"), None);
    state.write(&41_u32).await.expect("the term lasts");
    let second = builder(&store, "b").build().expect("it starts");
    until("the second to be known", || first.active_workers().len() == 2).await;
    first.resign();
    let after = old.clone();
    drop(old);
    soon("the word to stop", after.lost()).await;
    let epoch = after.epoch();
    drop(after);
    let new = soon("the second term", second.leadership()).await.expect("it leads");
    assert_eq!(new.state("invoices").read::<u32>().await.expect("it answers"), Some(41));
    new.state("invoices").write(&42_u32).await.expect("the term lasts");
    let name = "plugin:invoices";
    let late = store.write_document(
        first.namespace(),
        name,
        b"7".to_vec(),
        baton::Precondition::Any,
        Some(epoch),
    );
    assert_eq!(late.await.expect("it answers"), baton::WriteOutcome::Fenced);
    let foreign = new.state("invoices").read::<String>().await;
    assert!(matches!(foreign, Err(StateError::Foreign { .. })), "{foreign:?}");
    assert_eq!(new.state("invoices").read::<u32>().await.expect("it answers"), Some(42));
}

#[tokio::test]
async fn the_ledger_and_the_bulletin_tell_what_ran_and_nothing_is_missed_by_a_handover() {
    let store = store();
    let report = every("report", 3_600_000 * MS, |_| std::future::ready(Ok(())));
    let first = builder(&store, "a").plugin(report).build().expect("it starts");
    until("the first call", || first.plugins()[0].runs == 1).await;
    let own = first.plugins().remove(0);
    assert_eq!((own.doing, own.failures, own.missed), (PluginStatus::Resting, 0, 0));
    let due = own.next_run_ms.expect("it is due in an hour");
    let read = async |by: &NodeId| loop {
        let told =
            PluginReportDocument::read(&*store, first.namespace()).await.expect("it answers");
        if let Some(told) = told.filter(|told| told.node == *by && told.plugins[0].runs == 1) {
            return told;
        }
        SystemClock.sleep(2 * MS).await;
    };
    let mut told = soon("the bulletin", read(first.id())).await;
    assert_eq!((&told.node, told.epoch.0), (first.id(), 1));
    assert_eq!(told.plugins[0].next_run_ms, Some(due));
    soon("the first to leave", first.leave()).await;
    assert_eq!(first.plugins()[0].doing, PluginStatus::Idle);

    // Written two hours ago, as it seems; the first node led until just now.
    let two_hours_ago = told.at_ms - 7_200_000;
    told.plugins[0].next_run_ms = Some(two_hours_ago);
    let body = serde_json::to_vec(&told).expect("plain data");
    let any = baton::Precondition::Any;
    let write = store.write_document(first.namespace(), "baton:plugins", body, any, None);
    write.await.expect("it answers");
    let report = every("report", 3_600_000 * MS, |_| std::future::ready(Ok(())));
    let second = builder(&store, "b").plugin(report).build().expect("it starts");
    let told = soon("the bulletin of the next term", read(second.id())).await;
    assert_eq!((told.epoch.0, told.plugins[0].missed), (2, 0), "{told:?}");
}

#[tokio::test]
async fn events_of_a_plugin_go_by_its_name_too() {
    let store = store();
    let (plugin, _) = counting("ttl");
    let built = builder(&store, "a").plugin(plugin).build_with_events();
    let (node, mut events) = built.expect("it starts");
    let promoted = |event: &Event| matches!(event, Event::PluginPromoted { .. });
    let told = event(&mut events, "the start", promoted).await;
    assert_eq!(told.event.names(), ["plugin:promoted", "plugin:ttl:promoted"]);
    node.resign();
    let demoted = |event: &Event| matches!(event, Event::PluginDemoted { .. });
    let told = event(&mut events, "the stop", demoted).await;
    assert_eq!(told.event.names(), ["plugin:demoted", "plugin:ttl:demoted"]);
}
