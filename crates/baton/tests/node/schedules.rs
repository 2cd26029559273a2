//! Schedules on real nodes: each slot once, whatever becomes of leaders, work and pages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::plugins::schedules::{
    EditRefused, Entry, HistoryEntry, Misfire, MissReason, OnCrash, Overlap, RunOutcome,
    ScheduleError, Schedules,
};
use baton::{
    BuildError, Event, Node, PluginError, Precondition, ScheduledJob, ScheduledRun, Store,
    WriteOutcome, cron,
};
use baton_store::clock::{Clock, SystemClock};

use crate::cluster::{builder, event, soon, store, until};

const EVERY_SECOND: &str = "* * * * * *";

/// The attempts that ran: slot and attempt.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(u64, u32)>>>);

impl Log {
    fn attempts(&self) -> Vec<(u64, u32)> {
        self.0.lock().expect("no holder panics").clone()
    }

    /// A schedule of every second that is logged and then does this.
    fn job<Work>(&self, work: impl Fn(ScheduledRun) -> Work + Send + Sync + 'static) -> ScheduledJob
    where
        Work: Future<Output = Result<(), PluginError>> + Send + 'static,
    {
        let log = self.clone();
        cron("tick", EVERY_SECOND, move |run: ScheduledRun| {
            log.0.lock().expect("no holder panics").push((run.id().at_ms, run.attempt()));
            work(run)
        })
    }
}

async fn well(_: ScheduledRun) -> Result<(), PluginError> {
    Ok(())
}

/// Work that goes on until it is told to stop.
async fn endless(run: ScheduledRun) -> Result<(), PluginError> {
    run.stopped().await;
    Err("it was told to stop".into())
}

/// A run that a person asks for, of a schedule that is not due by itself.
fn on_request(log: &Log, change: impl FnOnce(ScheduledJob) -> ScheduledJob) -> ScheduledJob {
    // Its name is the same, so that it takes the place of the other.
    let log = log.clone();
    change(cron("tick", "@yearly", move |run: ScheduledRun| {
        let attempt = run.attempt();
        log.0.lock().expect("no holder panics").push((run.id().at_ms, attempt));
        async move {
            match attempt {
                1 => Err("not yet".into()),
                2 => unreachable!("on purpose"),
                3 => std::future::pending().await,
                _ => Ok(()),
            }
        }
    }))
}

async fn leads(node: &Node) {
    drop(soon("the term", node.leadership()).await.expect("it leads"));
}

/// Waits until the schedule stands in the store, and looks like this.
async fn stands(schedules: &Schedules, what: &str, looks: impl Fn(&Entry) -> bool) -> Entry {
    let waiting = async {
        loop {
            match schedules.get("tick").await {
                Ok(stored) if looks(&stored.entry) => return stored.entry,
                Ok(_) | Err(ScheduleError::Refused(EditRefused::Unknown { .. })) => {
                    SystemClock.sleep(Duration::from_millis(5)).await;
                }
                Err(problem) => unreachable!("{problem}"),
            }
        }
    };
    soon(what, waiting).await
}

#[tokio::test]
async fn every_slot_runs_once_while_leaders_come_and_go() {
    let (store, log) = (store(), Log::default());
    let start = |name: &str| {
        let job = log.job(well).overlap(Overlap::Queue);
        builder(&store, name).schedule(job).build().expect("it starts")
    };
    let nodes = ["a", "b", "c"].map(start);
    for resign_at in [1, 3, 5] {
        until("more slots", || log.attempts().len() >= resign_at).await;
        nodes.iter().find(|node| node.is_leader()).into_iter().for_each(Node::resign);
    }
    until("the last slots", || log.attempts().len() >= 7).await;
    let attempts = log.attempts();
    let slots: Vec<u64> = attempts.iter().map(|(slot, _)| *slot).collect();
    assert!(slots.windows(2).all(|pair| pair[1] == pair[0] + 1_000), "{slots:?}");
    assert!(attempts.iter().all(|(_, attempt)| *attempt == 1), "{attempts:?}");
    let terms = store.history(nodes[0].namespace(), 10).await.expect("it answers");
    assert!(terms.len() >= 3, "leadership moved: {terms:?}");
}

#[tokio::test]
async fn a_failure_a_panic_and_a_timeout_are_tried_again() {
    let (store, log) = (store(), Log::default());
    let job = on_request(&log, |job| job.retries(3).timeout(Duration::from_millis(50)));
    let node = builder(&store, "a").schedule(job).build().expect("it starts");
    let schedules = node.schedules();
    stands(&schedules, "the schedule", |_| true).await;
    schedules.run("tick").await.expect("it may");
    let entry = stands(&schedules, "the end", |entry| entry.totals.done == 1).await;
    let attempts: Vec<u32> = log.attempts().iter().map(|(_, attempt)| *attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4]);
    assert!(matches!(entry.history.back(), Some(HistoryEntry::Run { attempts: 4, .. })));
    node.leave().await;
}

#[tokio::test]
async fn a_run_that_is_cut_off_runs_again_or_never() {
    for (policy, attempts) in [(OnCrash::Retry, vec![1, 2]), (OnCrash::Skip, vec![1])] {
        let (store, log) = (store(), Log::default());
        let job = || {
            let log = log.clone();
            cron("tick", "@yearly", move |run: ScheduledRun| {
                log.0.lock().expect("no holder panics").push((run.id().at_ms, run.attempt()));
                async move { if run.attempt() == 1 { endless(run).await } else { Ok(()) } }
            })
            .on_crash(policy)
        };
        let first = builder(&store, "a").schedule(job()).build().expect("it starts");
        leads(&first).await;
        let schedules = first.schedules();
        stands(&schedules, "the schedule", |_| true).await;
        schedules.run("tick").await.expect("it may");
        until("the first attempt", || !log.attempts().is_empty()).await;
        let second = builder(&store, "b").schedule(job()).build().expect("it starts");
        first.leave().await;
        let ended = |entry: &Entry| entry.totals.done + entry.totals.failed == 1;
        let entry = stands(&second.schedules(), "the end", ended).await;
        assert_eq!(log.attempts().iter().map(|it| it.1).collect::<Vec<_>>(), attempts);
        let Some(HistoryEntry::Run { outcome, .. }) = entry.history.back() else {
            unreachable!("a run was the last: {entry:?}")
        };
        let expected =
            if policy == OnCrash::Retry { RunOutcome::Done } else { RunOutcome::Abandoned };
        assert_eq!(*outcome, expected);
        second.leave().await;
    }
}

#[tokio::test]
async fn a_newer_slot_stops_the_run_that_it_replaces() {
    let (store, log) = (store(), Log::default());
    let job = log.job(endless).overlap(Overlap::Replace);
    let node = builder(&store, "a").schedule(job).build().expect("it starts");
    until("three slots", || log.attempts().len() >= 3).await;
    let replaced = |entry: &HistoryEntry| {
        matches!(entry, HistoryEntry::Run { outcome: RunOutcome::Replaced, .. })
    };
    let entry = stands(&node.schedules(), "two ends", |it| it.history.len() >= 2).await;
    assert!(entry.history.iter().all(replaced), "{entry:?}");
    assert_eq!(entry.running.len(), 1);
    node.leave().await;
}

#[tokio::test]
async fn people_pause_resume_and_run_it_and_are_told_what_is_wrong() {
    let (store, log) = (store(), Log::default());
    let node = builder(&store, "a").schedule(log.job(well)).build().expect("it starts");
    let mut events = node.events();
    let schedules = node.schedules();
    until("a slot", || !log.attempts().is_empty()).await;
    schedules.pause("tick").await.expect("it is not paused");
    let refused = schedules.pause("tick").await.expect_err("it is paused").to_string();
    assert_eq!(refused, "schedule tick is paused already");
    let unknown = schedules.run("tock").await.expect_err("there is none").to_string();
    assert_eq!(unknown, "there is no schedule tock; baton schedules list shows them");
    // Whatever was claimed before the pause has started; after that only what is asked for does.
    let asked = schedules.run("tick").await.expect("it may");
    until("the run", || log.attempts().contains(&(asked.at_ms, 1))).await;
    let started = |event: &Event| match event {
        Event::ScheduleStarted { slot_ms, .. } => *slot_ms == asked.at_ms,
        _ => false,
    };
    event(&mut events, "the start", started).await;
    let paused = stands(&schedules, "its end", |entry| entry.running.is_empty()).await;
    let count = log.attempts().len();
    schedules.resume("tick").await.expect("it is paused");
    until("the next slot", || log.attempts().len() > count).await;
    let resumed = schedules.get("tick").await.expect("it is there").entry;
    assert!(resumed.revision > paused.revision);
    node.leave().await;
}

#[tokio::test]
async fn slots_of_ten_minutes_without_a_leader_follow_the_policy() {
    let catch_up = Misfire::CatchUp { cap: 5, age_ms: 3_600_000 };
    for (misfire, run) in [(Misfire::Skip, 0), (Misfire::Once, 1), (catch_up, 5)] {
        let (store, log) = (store(), Log::default());
        let job = || {
            let job = log.job(well).misfire(misfire).overlap(Overlap::Queue);
            job.grace(Duration::ZERO)
        };
        let node = builder(&store, "a").schedule(job()).build().expect("it starts");
        stands(&node.schedules(), "the schedule", |_| true).await;
        node.leave().await;
        let before_ms = ten_minutes_earlier(&store, &node).await;
        log.0.lock().expect("no holder panics").clear();
        let node = builder(&store, "b").schedule(job()).build().expect("it starts");
        let schedules = node.schedules();
        let missed = |entry: &Entry| {
            let late = |entry: &&HistoryEntry| {
                matches!(entry, HistoryEntry::Missed { reason: MissReason::Late, .. })
            };
            entry.history.iter().any(|it| late(&it))
        };
        let entry = stands(&schedules, "the missed slots", missed).await;
        let first = entry.history.iter().find_map(|it| match it {
            HistoryEntry::Missed { count, first_ms, .. } => Some((*count, *first_ms)),
            HistoryEntry::Run { .. } => None,
        });
        let (count, first_ms) = first.expect("it was found above");
        assert_eq!(first_ms, before_ms + 1_000, "the oldest is known");
        assert!((590..700).contains(&count), "{count} missed under {misfire:?}");
        until("the runs", || log.attempts().len() >= run).await;
        let made_up = log.attempts().iter().filter(|it| it.0 < first_ms + 600_000).count();
        assert!(made_up <= run, "{made_up} were made up for under {misfire:?}");
        node.leave().await;
    }
}

/// Sets the schedule back to ten minutes ago, as if no leader had been there since.
async fn ten_minutes_earlier(store: &Arc<dyn Store>, node: &Node) -> u64 {
    let name = "baton:schedules:0";
    let page = store.read_document(node.namespace(), name).await.expect("it answers");
    let page = page.expect("the schedule was written");
    let mut json: serde_json::Value = serde_json::from_slice(&page.body).expect("a page");
    let last = &mut json["entries"][0]["last"];
    let earlier = |value: &serde_json::Value, by: u64| value.as_u64().expect("a time") - by;
    let before_ms = earlier(&last[0], 600_000) / 1_000 * 1_000;
    (last[0], last[1]) = (before_ms.into(), (before_ms / 1_000).into());
    let body = serde_json::to_vec(&json).expect("plain data");
    let at = Precondition::Version(page.version);
    let written = store.write_document(node.namespace(), name, body, at, None).await;
    assert!(matches!(written, Ok(WriteOutcome::Written(_))), "{written:?}");
    before_ms
}

#[tokio::test]
async fn schedules_are_added_changed_and_removed_while_the_node_runs() {
    let (store, log) = (store(), Log::default());
    let node = builder(&store, "a").build().expect("it starts");
    leads(&node).await;
    node.set_schedule(log.job(well)).expect("it is right");
    until("a slot", || !log.attempts().is_empty()).await;
    let later = Log::default();
    node.set_schedule(later.job(well).retries(1)).expect("it is right");
    until("a slot of the new work", || !later.attempts().is_empty()).await;
    let changed = stands(&node.schedules(), "the change", |it| it.definition.retries == 1).await;
    assert_eq!(changed.revision, 2);
    assert!(node.remove_schedule("tick") && !node.remove_schedule("tick"));
    stands(&node.schedules(), "its removal", |entry| entry.undeclared_ms.is_some()).await;
    let refused = node.schedules().run("tick").await.expect_err("it was removed");
    assert!(matches!(refused, ScheduleError::Refused(EditRefused::Undeclared { .. })));
    node.leave().await;
}

#[tokio::test]
async fn two_schedules_of_one_name_and_wrong_ones_are_refused() {
    let store = store();
    let twice = builder(&store, "a").schedule(cron("x", "@daily", well));
    let twice = twice.schedule(cron("x", "@hourly", well)).build();
    assert_eq!(
        twice.expect_err("one name").to_string(),
        "two schedules are named x: each name can be used once in a namespace"
    );
    let wrong = builder(&store, "a").schedule(cron("x", "0 0 30 2 *", well)).build();
    assert!(matches!(wrong, Err(BuildError::Schedule(_))));
}

#[tokio::test]
async fn a_page_that_cannot_be_read_fails_the_plugin_and_is_left_alone() {
    let store = store();
    let node = builder(&store, "a").build().expect("it starts");
    leads(&node).await;
    let body = br#"{"format":99,"writer":{"boot":"","number":0},"entries":[]}"#.to_vec();
    let name = "baton:schedules:0";
    let written = store
        .write_document(node.namespace(), name, body.clone(), Precondition::Absent, None)
        .await;
    assert_eq!(written, Ok(WriteOutcome::Written(1)));
    let mut events = node.events();
    node.set_schedule(cron("tick", EVERY_SECOND, well)).expect("it is right");
    let failed = |event: &Event| matches!(event, Event::PluginFailed { .. });
    let failed = event(&mut events, "the failure", failed).await;
    let Event::PluginFailed { error, .. } = &failed.event else { unreachable!("seen above") };
    assert!(error.contains("document baton:schedules:0"), "{error}");
    let page = store.read_document(node.namespace(), name).await.expect("it answers");
    assert_eq!(page.map(|page| page.body), Some(body));
    let reports: BTreeMap<String, u64> =
        node.plugins().into_iter().map(|it| (it.name.clone(), it.failures)).collect();
    assert!(reports["schedules"] >= 1, "{reports:?}");
}
