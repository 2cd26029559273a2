//! Polls on real nodes, in memory and in a file: each slot once, whatever becomes of whom.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::plugins::polls::{
    Enqueued, Poll, PollEntry, PollError, PollHandlers, PollRun, PollState, Polls,
};
use baton::{Node, NodeBuilder, PluginError, ServiceHandle, Store};
use baton_store::clock::{Clock, SystemClock};
use tempfile::TempDir;

use crate::cluster::{builder, outage, soon, store, until};

const LOOK: Duration = Duration::from_millis(10);

/// A store in memory, and one in a file that is gone with the test.
async fn stores() -> (Vec<Arc<dyn Store>>, TempDir) {
    let folder = tempfile::tempdir().expect("there is room");
    let url = format!("sqlite://{}", folder.path().join("polls.db").display());
    let file = baton::open(&url).await.expect("a new file");
    (vec![store(), file], folder)
}

/// Which poll ran how often, and what became of it, by attempt.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<PollRun>>>);

impl Log {
    fn handlers<A>(&self, answer: fn(PollRun) -> A) -> PollHandlers
    where
        A: Future<Output = Result<String, PluginError>> + Send + 'static,
    {
        let log = self.clone();
        let handler = move |run: PollRun| {
            log.0.lock().expect("no holder panics").push(run.clone());
            answer(run)
        };
        PollHandlers::default().on("x", handler).look_every(LOOK)
    }

    fn runs(&self) -> Vec<PollRun> {
        self.0.lock().expect("no holder panics").clone()
    }
}

async fn well(run: PollRun) -> Result<String, PluginError> {
    Ok(format!("{} was asked {}", run.name, run.payload))
}

fn polled(builder: NodeBuilder, polls: Polls) -> Node {
    builder.plugin(polls.look_every(LOOK)).build().expect("it starts")
}

/// A node that leads and runs polls.
async fn lone(store: &Arc<dyn Store>, handlers: PollHandlers) -> (Node, ServiceHandle) {
    let node = polled(builder(store, "a"), Polls::default());
    drop(soon("the term", node.leadership()).await.expect("it leads"));
    let runner = handlers.start(&node).expect("there is one");
    (node, runner)
}

async fn request(node: &Node, poll: &Poll) -> u64 {
    match node.polls().request(poll).await.expect("there is room") {
        Enqueued::New(id) => id,
        other => unreachable!("{other:?}"),
    }
}

/// Waits until a poll is done.
async fn done(node: &Node, id: u64) -> PollEntry {
    let client = node.polls();
    soon("the poll", client.wait_for(id, LOOK)).await.expect("it is kept")
}

#[tokio::test]
async fn a_request_is_run_by_a_node_and_answered() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let (node, _runner) = lone(&store, log.handlers(well)).await;
        let id = request(&node, &Poll::new("x").tune(|it| it.payload = "why".to_owned())).await;
        let entry = done(&node, id).await;
        assert_eq!((entry.state, entry.note.as_str()), (PollState::Completed, "x was asked why"));
        assert_eq!(log.runs().len(), 1);
    }
}

#[tokio::test]
async fn every_slot_runs_once_while_coordinators_come_and_go() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let every = Duration::from_millis(100);
        let start = |name: &str| {
            let polls = Polls::default().every(every, Poll::new("x")).expect("it makes sense");
            let node = polled(builder(&store, name), polls);
            let runner = log.handlers(well).start(&node).expect("there is one");
            (node, runner)
        };
        let nodes = ["a", "b", "c"].map(start);
        for (round, resign_at) in [4, 8, 12, 16].into_iter().enumerate() {
            until("more slots", || log.runs().len() >= resign_at).await;
            let leader = nodes.iter().find(|(node, _)| node.is_leader());
            if let Some((node, _)) = leader {
                node.resign();
            }
            assert!(round < 4);
        }
        until("the last slots", || log.runs().len() >= 20).await;
        let mut counts = BTreeMap::<u64, u32>::new();
        for run in log.runs() {
            assert_eq!(run.attempt, 1, "nothing went wrong: {run:?}");
            *counts.entry(run.slot.expect("it is periodic")).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        let terms = store.history(nodes[0].0.namespace(), 10).await.expect("it answers");
        assert!(terms.len() >= 3, "leadership moved: {terms:?}");
    }
}

#[tokio::test]
async fn a_failure_is_tried_again_and_a_panic_is_one() {
    async fn third_time(run: PollRun) -> Result<String, PluginError> {
        match run.attempt {
            1 => Err("not yet".into()),
            2 => unreachable!("on purpose"),
            _ => Ok("at last".to_owned()),
        }
    }
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let (node, _runner) = lone(&store, log.handlers(third_time)).await;
        let entry = done(&node, request(&node, &Poll::new("x")).await).await;
        assert_eq!((entry.state, entry.attempt), (PollState::Completed, 3));
        let entry =
            done(&node, request(&node, &Poll::new("x").tune(|it| it.retries = 1)).await).await;
        assert_eq!((entry.state, entry.attempt), (PollState::Failed, 2));
        assert_eq!(entry.note, "the handler panicked");
    }
}

#[tokio::test]
async fn what_takes_too_long_times_out() {
    async fn for_ever(_: PollRun) -> Result<String, PluginError> {
        std::future::pending().await
    }
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let (node, _runner) = lone(&store, log.handlers(for_ever)).await;
        let poll = Poll::new("x").tune(|it| {
            it.timeout = Duration::from_millis(50);
            it.retries = 1;
        });
        let entry = done(&node, request(&node, &poll).await).await;
        assert_eq!((entry.state, entry.attempt), (PollState::TimedOut, 2));
        assert_eq!(log.runs().len(), 2);
    }
}

#[tokio::test]
async fn a_poll_is_cancelled_before_it_runs_and_never_runs() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let node = polled(builder(&store, "a"), Polls::default());
        drop(soon("the term", node.leadership()).await.expect("it leads"));
        let (first, second) =
            (request(&node, &Poll::new("x")).await, request(&node, &Poll::new("x")).await);
        node.polls().cancel(first).await.expect("no node runs it");
        let log = Log::default();
        let runner = log.handlers(well).start(&node).expect("there is one");
        assert_eq!(done(&node, second).await.state, PollState::Completed);
        assert_eq!(done(&node, first).await.state, PollState::Cancelled);
        let ids: Vec<u64> = log.runs().iter().map(|run| run.id).collect();
        assert_eq!(ids, [second]);
        let late = node.polls().cancel(second).await.expect_err("it is done");
        assert_eq!(late.to_string(), "a poll that is completed cannot be cancelled");
        let unknown = node.polls().cancel(77).await;
        assert_eq!(unknown, Err(PollError::Unknown { id: 77 }));
        runner.stop(Duration::from_secs(30)).await;
        let table = node.polls().table().await.expect("it answers");
        assert!(table.runners().is_empty(), "a node that stops is handed nothing more");
    }
}

#[tokio::test]
async fn within_the_window_many_requests_are_one_poll() {
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let (first, _runner) = lone(&store, log.handlers(well)).await;
        let second = builder(&store, "b").build().expect("it starts");
        let poll = Poll::new("x").tune(|it| it.unique_for = Duration::from_secs(3_600));
        let (one, two) = (first.polls(), second.polls());
        let asked = tokio::join!(one.request(&poll), two.request(&poll), one.request(&poll));
        let ids = [asked.0, asked.1, asked.2].map(|asked| match asked.expect("there is room") {
            Enqueued::New(id) | Enqueued::Duplicate(id) => id,
            Enqueued::Skipped => 0,
        });
        assert_eq!(ids, [1, 1, 1]);
        done(&first, 1).await;
        let again = second.polls().request(&poll).await;
        assert_eq!(again, Ok(Enqueued::Duplicate(1)), "done or not");
        assert_eq!(log.runs().len(), 1);
    }
}

#[tokio::test]
async fn what_a_lost_node_ran_is_tried_elsewhere_and_its_late_answer_is_not_heard() {
    async fn first_hangs(run: PollRun) -> Result<String, PluginError> {
        if run.attempt == 1 {
            SystemClock.sleep(Duration::from_secs(3_600)).await;
        }
        Ok(format!("attempt {}", run.attempt))
    }
    let (stores, _folder) = stores().await;
    for store in stores {
        let log = Log::default();
        let node = polled(builder(&store, "a"), Polls::default());
        drop(soon("the term", node.leadership()).await.expect("it leads"));
        let cut = outage(store.clone());
        let lost = builder(&(cut.clone() as Arc<dyn Store>), "b").build().expect("it starts");
        let _lost = log.handlers(first_hangs).start(&lost).expect("there is one");
        until("it to be known", || node.active_workers().len() == 2).await;
        let id = request(&node, &Poll::new("x").tune(|it| it.retries = 1)).await;
        until("the first attempt", || log.runs().len() == 1).await;
        let _other = log.handlers(first_hangs).start(&node).expect("there is one");
        cut.layer().begin();
        let entry = done(&node, id).await;
        assert_eq!((entry.attempt, entry.note.as_str()), (2, "attempt 2"));
        assert_eq!(entry.assigned.map(|to| to.boot), Some(node.boot()));
        cut.layer().end();
    }
}

#[test]
fn a_schedule_that_is_too_dense_is_refused() {
    let refused = Polls::default().every(Duration::from_millis(5), Poll::new("x")).err();
    let told = refused.expect("too often").to_string();
    assert_eq!(told, "poll x is due every 5ms, less than 100ms; poll less often");
}
