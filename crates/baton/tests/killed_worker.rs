//! A real process that runs a poll is killed: another one runs it again.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton::plugins::polls::{Enqueued, Poll, PollState, Polls};
use baton::{Node, NodeId, Profile};
use baton_store::clock::{Clock, SystemClock};

const LOOK: Duration = Duration::from_millis(20);

/// What is awaited must come before this; far more than it takes.
const PATIENCE: Duration = Duration::from_secs(40);

/// Killed with the test.
struct Worker(Child);

impl Worker {
    fn start(url: &str, id: &str) -> Self {
        let mut folder: PathBuf = std::env::current_exe().expect("a test has a path");
        folder.pop();
        folder.pop();
        let mut command = Command::new(folder.join("examples/poll_worker"));
        command.args([url, id]).stdin(Stdio::null());
        Self(command.spawn().expect("`cargo test -p baton` builds it"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::select! {
        done = future => done,
        () = SystemClock.sleep(PATIENCE) => unreachable!("waited in vain for {what}"),
    }
}

#[tokio::test]
async fn what_a_killed_process_ran_is_run_by_another_one() {
    let folder = tempfile::tempdir().expect("there is room");
    let url = format!("sqlite://{}", folder.path().join("polls.db").display());
    let node = Node::builder(baton::open(&url).await.expect("a new file"))
        .id(NodeId::new("coordinator").expect("valid"))
        .profile(Profile::Fast)
        .plugin(Polls::default().look_every(LOOK))
        .build()
        .expect("it starts");
    let mut workers = ["w1", "w2"].map(|id| (id, Worker::start(&url, id)));
    let poll = Poll::new("device").tune(|it| {
        it.timeout = Duration::from_secs(3_600);
        it.retries = 1;
    });
    let asked = node.polls().request(&poll).await.expect("there is room");
    let Enqueued::New(id) = asked else { unreachable!("{asked:?}") };
    let running = async {
        loop {
            let table = node.polls().table().await.expect("it answers");
            let entry = table.poll(id).expect("it is kept").clone();
            if entry.state == PollState::Running {
                return entry.assigned.expect("a node runs it").node;
            }
            SystemClock.sleep(LOOK).await;
        }
    };
    let first = in_time("the first attempt", running).await;
    let victim = workers.iter_mut().find(|(id, _)| *id == first.as_str()).expect("one of them");
    victim.1.0.kill().expect("it runs");
    let done = in_time("the second attempt", node.polls().wait_for(id, LOOK)).await;
    let done = done.expect("it is kept");
    assert_eq!((done.state, done.attempt), (PollState::Completed, 2));
    let other = if first.as_str() == "w1" { "w2" } else { "w1" };
    assert_eq!(done.note, format!("{other} heard 21 degrees"));
}
