//! Work that is done once: by one of many, again after a failure or a crash, never after success.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use baton::once::{OnceCause, OnceElection, OnceKey, OnceRecords, OnceState, OnceTurn, settings};
use baton::{
    Namespace, Node, OnCrash, Once, OnceError, OnceOutcome, OnceRun, PluginError, Settings, Store,
};
use tokio::sync::Notify;

use crate::cluster::{builder, outage, soon, store, until};

const KEY: &str = "migrate-42";

/// Far longer than anything that a test waits for: no busy machine loses such a lease.
const LONG: Duration = Duration::from_secs(60);

fn node(store: &Arc<dyn Store>, name: &str) -> Node {
    let tuned = builder(store, name).tune(|it| {
        it.lease_timeout = LONG;
        it.min_epoch_duration = LONG;
    });
    tuned.build().expect("it starts")
}

fn nodes<const N: usize>(store: &Arc<dyn Store>, names: [&str; N]) -> [Node; N] {
    names.map(|name| node(store, name))
}

/// Work that counts its runs and, once it is let go, ends as it is told.
#[derive(Clone, Default)]
struct Work {
    runs: Arc<AtomicU32>,
    go: Arc<Notify>,
}

impl Work {
    fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    async fn run(self, run: OnceRun) -> Result<(), PluginError> {
        assert_eq!(run.key(), KEY);
        assert!(run.term().is_leader());
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.go.notified().await;
        Ok(())
    }

    async fn call(&self, node: &Node, once: impl Into<Once>) -> Result<OnceOutcome, OnceError> {
        node.once(once, |run| self.clone().run(run)).await
    }
}

#[tokio::test]
async fn of_three_one_runs_it_and_the_others_wait_and_later_ones_need_not() {
    let store = store();
    let [a, b, c] = nodes(&store, ["a", "b", "c"]);
    let work = Work::default();
    let done = async {
        until("a run", || work.runs() == 1).await;
        work.go.notify_one();
    };
    let all =
        async { tokio::join!(work.call(&a, KEY), work.call(&b, KEY), work.call(&c, KEY), done) };
    let (first, second, third, ()) = soon("all three", all).await;
    let outcomes = [first, second, third].map(|outcome| outcome.expect("it is done"));
    assert_eq!(work.runs(), 1);
    let ran: Vec<_> = outcomes.iter().filter(|it| **it == OnceOutcome::Ran).collect();
    assert_eq!(ran.len(), 1, "{outcomes:?}");
    let runner = [&a, &b, &c].into_iter().zip(&outcomes).find(|(_, it)| **it == OnceOutcome::Ran);
    let runner = runner.expect("one ran it").0.id().clone();
    for other in outcomes.into_iter().filter(|it| *it != OnceOutcome::Ran) {
        assert_eq!(other, OnceOutcome::DoneByOther { node: runner.clone() });
    }
    let later = soon("a later call", work.call(&a, KEY)).await.expect("it is done");
    assert_eq!((later, work.runs()), (OnceOutcome::DoneBefore, 1));
}

#[tokio::test]
async fn a_failure_ends_those_that_waited_and_a_later_call_tries_again() {
    let store = store();
    let [a, b] = nodes(&store, ["a", "b"]);
    let fails = |run: OnceRun| async move {
        assert_eq!(run.attempt(), 1, "a node that waited must not try again");
        Err(PluginError::from("no such table"))
    };
    let both = async { tokio::join!(a.once(KEY, fails), b.once(KEY, fails)) };
    let (first, second) = soon("both", both).await;
    let told = [first, second].map(|outcome| outcome.expect_err("it failed").to_string());
    // The second may have begun only after the first had failed, were it slow: then it would have
    // panicked above.
    let own = "migrate-42 failed: no such table; a later start runs it again";
    assert!(told.iter().any(|told| told == own), "{told:?}");
    let other = told.iter().find(|told| *told != own).expect("one waited");
    assert!(other.starts_with("migrate-42: attempt 1 on node "), "{other}");
    assert!(other.ends_with(" failed: no such table; a later start runs it again"), "{other}");
    let attempt = AtomicU32::new(0);
    let works = |run: OnceRun| {
        attempt.store(run.attempt(), Ordering::SeqCst);
        async { Ok(()) }
    };
    let later = soon("a later call", b.once(KEY, works)).await.expect("it is done");
    assert_eq!((later, attempt.load(Ordering::SeqCst)), (OnceOutcome::Ran, 2));
}

#[tokio::test]
async fn a_run_whose_call_is_dropped_is_run_again_by_one_that_waits() {
    let store = store();
    let [a, b] = nodes(&store, ["a", "b"]);
    let work = Work::default();
    tokio::select! {
        done = work.call(&a, KEY) => unreachable!("{done:?}"),
        () = until("a run", || work.runs() == 1) => {}
    }
    let second = async {
        let done = async {
            until("the second run", || work.runs() == 2).await;
            work.go.notify_one();
        };
        tokio::join!(work.call(&b, KEY), done).0
    };
    assert_eq!(soon("the other", second).await.expect("it is done"), OnceOutcome::Ran);
}

#[tokio::test]
async fn calls_of_one_process_with_one_key_follow_each_other() {
    let store = store();
    let node = node(&store, "a");
    let work = Work::default();
    tokio::select! {
        done = work.call(&node, KEY) => unreachable!("{done:?}"),
        () = until("a run", || work.runs() == 1) => {}
    }
    // The node of the call that was dropped may still be about to leave.
    let done = async {
        until("the second run", || work.runs() == 2).await;
        work.go.notify_one();
    };
    let both = async { tokio::join!(work.call(&node, KEY), work.call(&node, KEY), done) };
    let (first, second, ()) = soon("both", both).await;
    let mut outcomes = [first, second].map(|outcome| outcome.expect("it is done"));
    outcomes.sort_by_key(|outcome| *outcome != OnceOutcome::Ran);
    let by_other = OnceOutcome::DoneByOther { node: node.id().clone() };
    assert_eq!((outcomes, work.runs()), ([OnceOutcome::Ran, by_other], 2));
}

#[tokio::test]
async fn under_skip_a_run_that_was_cut_off_is_not_run_again_until_a_later_call() {
    let store = store();
    let [a, b] = nodes(&store, ["a", "b"]);
    let work = Work::default();
    let once = || Once::new(KEY).on_crash(OnCrash::Skip);
    tokio::select! {
        done = work.call(&a, once()) => unreachable!("{done:?}"),
        () = until("a run", || work.runs() == 1) => {}
    }
    let waited = soon("the other", work.call(&b, once())).await.expect_err("it was cut off");
    let told = "migrate-42: attempt 1 on node a was cut off; a later start runs it again";
    assert_eq!((waited.to_string().as_str(), work.runs()), (told, 1));
    work.go.notify_one();
    let later = soon("a later call", work.call(&b, once())).await.expect("it is done");
    assert_eq!((later, work.runs()), (OnceOutcome::Ran, 2));
}

#[tokio::test]
async fn a_run_that_is_given_back_without_an_end_is_not_run_again_in_its_term() {
    let store = store();
    let web = Namespace::new("web").expect("a valid name");
    let key = OnceKey::new(&web, KEY).expect("a valid key");
    let own = builder(&store, "a").namespace(key.namespace().clone());
    let node = own.settings(settings(Settings::default())).build().expect("it starts");
    let records = OnceRecords::new(store, key);
    let found = records.read().await.expect("it answers");
    let election = OnceElection::new(node, records, &found, OnCrash::Retry);
    let mut runs = Vec::new();
    for _ in 0..2 {
        let turn = soon("a run", election.next()).await.expect("it answers");
        let OnceTurn::Run(turn) = turn else { unreachable!("{turn:?}") };
        runs.push((turn.run().attempt(), turn.run().term().epoch()));
    }
    assert_eq!((runs[0].0, runs[1].0), (1, 2));
    assert!(runs[0].1 < runs[1].1, "{runs:?}");
}

#[tokio::test]
async fn a_node_that_loses_its_term_in_mid_run_is_stopped_and_another_runs_it() {
    let base = store();
    let cut = outage(base.clone());
    let store: Arc<dyn Store> = cut.clone();
    let lost = builder(&store, "a").build().expect("it starts");
    let other = builder(&base, "b").build().expect("it starts");
    let work = Work::default();
    let disaster = async {
        until("a run", || work.runs() == 1).await;
        cut.layer().begin();
        until("another run", || work.runs() == 2).await;
        cut.layer().end();
        work.go.notify_waiters();
    };
    let late = async {
        until("a run", || work.runs() == 1).await;
        work.call(&other, KEY).await
    };
    let all = async { tokio::join!(work.call(&lost, KEY), late, disaster) };
    let (first, second, ()) = soon("both", all).await;
    assert_eq!(second.expect("it is done"), OnceOutcome::Ran);
    let by = OnceOutcome::DoneByOther { node: other.id().clone() };
    assert_eq!((first.expect("it is done"), work.runs()), (by, 2));
}

#[tokio::test]
async fn a_limit_stops_the_work_and_is_recorded() {
    let store = store();
    let [a, b] = nodes(&store, ["a", "b"]);
    let work = Work::default();
    let mut limit_ms = 100;
    // A busy machine may need a while before it leads at all.
    while work.runs() == 0 {
        limit_ms *= 2;
        let once = Once::new(KEY).timeout(Duration::from_millis(limit_ms));
        let told = soon("the limit", work.call(&a, once)).await.expect_err("too slow");
        assert_eq!(told.to_string(), format!("migrate-42 was not done within {limit_ms}ms"));
    }
    let key = OnceKey::new(a.namespace(), KEY).expect("a valid key");
    let found = OnceRecords::new(store.clone(), key).read().await.expect("it answers");
    let state = found.record.expect("it was begun").state;
    let OnceState::Failed(failure) = state else { unreachable!("{state:?}") };
    assert_eq!(failure.cause, OnceCause::TimedOut { limit_ms });
    // One that only waits leaves the run alone.
    let waits = async {
        until("the second run", || work.runs() == 2).await;
        let once = Once::new(KEY).timeout(Duration::from_millis(200));
        let told = work.call(&b, once).await.expect_err("another runs it");
        work.go.notify_one();
        told
    };
    let both = async { tokio::join!(work.call(&a, KEY), waits) };
    let (first, second) = soon("both", both).await;
    assert_eq!(first.expect("it is done"), OnceOutcome::Ran);
    assert!(matches!(second, OnceError::TimedOut { .. }), "{second:?}");
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let node = node(&store(), "a");
    let told = node.once("a b", |_| async { Ok(()) }).await.expect_err("no key").to_string();
    assert!(told.starts_with("key has ' ' at position 2"), "{told}");
}
