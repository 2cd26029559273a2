//! The partitions on which an owner works, and what it notes of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::NodeBuilder;
use baton::clock::Moment;
use baton::partitions::{OwnedPartition, Partition, TaskList, partition_task};
use baton_store::clock::{Clock, SystemClock};

use super::{OwnerLine, OwnerLog};

/// How often each partition is looked at: is it still owned?
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How often the process notes that it owns something, in looks.
const ALIVE_EVERY: u32 = 5;

/// The partitions on which this process works. Clones are of the same.
#[derive(Clone)]
pub struct Works {
    log: Arc<OwnerLog>,
    under_way: Arc<Mutex<BTreeMap<Partition, Work>>>,
}

/// Ends work that is aborted too: a task may be, once its process may not act any more.
struct EndsOnDrop<'a>(&'a Works, &'a OwnedPartition);

impl Drop for EndsOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

struct Work {
    owned: OwnedPartition,
    owned_at: Moment,
}

impl Works {
    /// None so far.
    pub fn new(log: Arc<OwnerLog>) -> Self {
        Self { log, under_way: Arc::default() }
    }

    /// Lets a node take partitions of these lists. Their work is among these.
    pub fn of_node(&self, node: NodeBuilder, lists: &[TaskList]) -> NodeBuilder {
        let works = self.clone();
        let node = node.partitions(partition_task(move |owned| works.clone().work(owned)));
        lists.iter().cloned().fold(node, NodeBuilder::task_list)
    }

    /// The work of a partition, from when it is given to this process until it is to stop.
    async fn work(self, owned: OwnedPartition) {
        self.begin(&owned);
        let _ends = EndsOnDrop(&self, &owned);
        owned.released().await;
    }

    fn begin(&self, owned: &OwnedPartition) {
        let at = SystemClock.now();
        // Work that may not act has not begun.
        if !owned.is_owned() {
            return;
        }
        let (partition, token) = (owned.partition().clone(), owned.token());
        let work = Work { owned: owned.clone(), owned_at: at };
        let mut under_way = self.under_way.lock().expect("no holder panics");
        under_way.insert(partition.clone(), work);
        self.log.note(&OwnerLine::Start { at, partition, token });
    }

    fn end(&self, owned: &OwnedPartition) {
        let mut under_way = self.under_way.lock().expect("no holder panics");
        let (partition, token) = (owned.partition().clone(), owned.token());
        let is_its = |work: &Work| work.owned.token() == token;
        if !under_way.get(&partition).is_some_and(is_its) {
            return;
        }
        let Some(work) = under_way.remove(&partition) else { return };
        let at = SystemClock.now();
        self.log.note(&OwnerLine::Stop { at, partition, token, owned_at: work.owned_at });
    }

    /// Looks at all partitions again and again.
    pub(super) async fn watch(&self) {
        let mut looks = 0_u32;
        loop {
            SystemClock.sleep(LOOK_EVERY).await;
            looks += 1;
            let is_alive = self.look();
            if let Some(at) = is_alive.filter(|_| looks.is_multiple_of(ALIVE_EVERY)) {
                self.log.note(&OwnerLine::Alive { at });
            }
        }
    }

    /// When a partition was owned, if any is.
    fn look(&self) -> Option<Moment> {
        let mut owned_at = None;
        for work in self.under_way.lock().expect("no holder panics").values_mut() {
            let at = SystemClock.now();
            if work.owned.is_owned() {
                work.owned_at = at;
                owned_at = Some(at);
            }
        }
        owned_at
    }

    /// A partition on which this process works, the first one after the other.
    pub fn next_after(&self, last: Option<&Partition>) -> Option<OwnedPartition> {
        let under_way = self.under_way.lock().expect("no holder panics");
        let after = |last: &Partition| {
            let next = under_way.iter().find(|(partition, _)| *partition > last);
            next.map(|(_, work)| work.owned.clone())
        };
        let first = || under_way.values().next().map(|work| work.owned.clone());
        last.and_then(after).or_else(first)
    }
}
