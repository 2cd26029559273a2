//! A handler made from a closure: a task for each partition.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::Event;
use baton_core::partition::Partition;
use baton_store::clock::{Clock, SystemClock};
use tokio::task::JoinSet;

use super::handler::{OwnedPartition, PartitionHandler};
use crate::plugin::panic_message;

/// The pause before a task that panicked runs again; doubled with each panic that follows soon.
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The longest pause. A task that ran for longer than this begins with a short one again.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// A handler that runs a task for each partition: from the moment this node owns it until the
/// task returns, which it does soon after [`OwnedPartition::released`]. A task that does not is
/// aborted at [`OwnedPartition::deadline`]. One that panics is run again, after a pause of a second
/// that doubles up to a minute, and leads to the event `partition:failed`.
///
/// ```
/// use baton::Node;
/// use baton::partitions::{TaskList, partition_task};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let consumer = partition_task(|owned| async move {
///     println!("{} is mine, with token {}", owned.partition(), owned.token());
///     owned.released().await;
/// });
/// let node = Node::builder(baton::open("sqlite://app.db").await?)
///     .task_list(TaskList::new("orders".parse()?, 12))
///     .partitions(consumer)
///     .build()?;
/// # node.leave().await;
/// # Ok(())
/// # }
/// ```
pub fn partition_task<F, Work>(run: F) -> impl PartitionHandler
where
    F: Fn(OwnedPartition) -> Work + Send + Sync + 'static,
    Work: Future<Output = ()> + Send + 'static,
{
    TaskHandler { run: Arc::new(run), tasks: Mutex::default() }
}

struct TaskHandler<F> {
    run: Arc<F>,
    /// A set of one task for each partition. It is aborted with its set.
    tasks: Mutex<BTreeMap<Partition, JoinSet<()>>>,
}

#[async_trait]
impl<F, Work> PartitionHandler for TaskHandler<F>
where
    F: Fn(OwnedPartition) -> Work + Send + Sync + 'static,
    Work: Future<Output = ()> + Send + 'static,
{
    async fn on_assigned(&self, owned: OwnedPartition) {
        let partition = owned.partition.clone();
        let mut task = JoinSet::new();
        task.spawn(run_again_after_panics(self.run.clone(), owned));
        self.tasks.lock().expect("no holder panics").insert(partition, task);
    }

    async fn on_release(&self, owned: &OwnedPartition) {
        let task = self.tasks.lock().expect("no holder panics").remove(&owned.partition);
        if let Some(mut task) = task {
            tokio::select! {
                _ = task.join_next() => return,
                () = owned.cut_off() => task.abort_all(),
            }
            task.join_next().await;
        }
    }
}

async fn run_again_after_panics<F, Work>(run: Arc<F>, owned: OwnedPartition)
where
    F: Fn(OwnedPartition) -> Work,
    Work: Future<Output = ()>,
{
    let mut pause = PAUSE_MIN;
    loop {
        let began = SystemClock.now();
        let Err(error) = without_panic(|| run(owned.clone())).await else { return };
        if SystemClock.now().since(began) > PAUSE_MAX {
            pause = PAUSE_MIN;
        }
        let restart_in_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        let partition = owned.partition.to_string();
        if let Some(node) = owned.node.upgrade() {
            node.events.send(Event::PartitionFailed { partition, error, restart_in_ms });
        }
        tokio::select! {
            () = owned.released() => return,
            () = SystemClock.sleep(pause) => {}
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Runs work in this very task, so that it is aborted and waited for with it. If it panics, what
/// the panic said is the error, and the work is dropped.
async fn without_panic<Work: Future<Output = ()>>(
    begin: impl FnOnce() -> Work,
) -> Result<(), String> {
    let begun = std::panic::catch_unwind(AssertUnwindSafe(begin));
    let mut work = pin!(begun.map_err(|panic| panic_message(&*panic))?);
    std::future::poll_fn(|context| {
        let polled = AssertUnwindSafe(|| work.as_mut().poll(context));
        match std::panic::catch_unwind(polled) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => std::task::Poll::Ready(Err(panic_message(&*panic))),
        }
    })
    .await
}
