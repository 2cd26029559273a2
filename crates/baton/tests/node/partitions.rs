//! Partitions on real nodes: each has one owner at a time, whatever becomes of nodes and leaders.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton::partitions::{
    MoveSettings, OwnedPartition, Partition, PartitionRouter, TaskList, TaskListChange, TaskListId,
    TaskListStatus, Token, partition_task,
};
use baton::{BuildError, Event, FenceRegister, FenceRegisterError, Node, NodeBuilder, Store};

use crate::cluster::{builder, event, memory, outage, quick, soon, store, until};

/// What the owners did: who works on what, and what went wrong.
#[derive(Default)]
struct Ledger {
    /// The task that works on a partition now: its node and token.
    works: BTreeMap<Partition, (String, Token)>,
    /// The highest token that worked on a partition.
    highest: BTreeMap<Partition, Token>,
    /// Two at a time, or a token that is not higher than one before.
    violations: Vec<String>,
    starts: usize,
}

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Ledger>>);

impl Watch {
    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.0.lock().expect("no holder panics")
    }

    /// The task of a partition: works until it is to stop.
    async fn work(self, node: String, owned: OwnedPartition) {
        let _working = self.begin(node, &owned);
        owned.released().await;
    }

    fn begin(&self, node: String, owned: &OwnedPartition) -> Working {
        let (partition, token) = (owned.partition().clone(), owned.token());
        let mut ledger = self.ledger();
        ledger.starts += 1;
        if let Some((other, with)) = ledger.works.get(&partition).cloned() {
            ledger
                .violations
                .push(format!("{partition}: {other} ({with:?}) and {node} ({token:?})"));
        }
        let highest = ledger.highest.insert(partition.clone(), token);
        if highest.is_some_and(|highest| highest >= token) {
            ledger.violations.push(format!("{partition}: {token:?} after {highest:?}"));
        }
        ledger.works.insert(partition.clone(), (node, token));
        Working { watch: self.clone(), partition, token }
    }

    /// How many partitions each of these nodes works on.
    fn counts(&self, nodes: &[&str]) -> Vec<usize> {
        let ledger = self.ledger();
        let count = |node: &&str| ledger.works.values().filter(|(by, _)| by == node).count();
        nodes.iter().map(count).collect()
    }

    fn assert_clean(&self) {
        let ledger = self.ledger();
        assert_eq!(ledger.violations, Vec::<String>::new());
    }
}

/// Work that is under way until this is dropped.
struct Working {
    watch: Watch,
    partition: Partition,
    token: Token,
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut ledger = self.watch.ledger();
        let is_mine = ledger.works.get(&self.partition).is_some_and(|(_, it)| *it == self.token);
        if is_mine {
            ledger.works.remove(&self.partition);
        }
    }
}

fn orders(partitions: u32) -> TaskList {
    TaskList::new("orders".parse().expect("a plain name"), partitions)
}

/// A node that takes partitions and declares twelve.
fn node(store: &Arc<dyn Store>, name: &'static str, watch: &Watch) -> NodeBuilder {
    let watch = watch.clone();
    let handler = partition_task(move |owned| watch.clone().work(name.to_owned(), owned));
    builder(store, name).task_list(orders(12)).partitions(handler)
}

fn start(store: &Arc<dyn Store>, name: &'static str, watch: &Watch) -> Node {
    node(store, name, watch).build().expect("it starts")
}

#[tokio::test]
async fn partitions_are_spread_over_nodes_that_join_and_leave() {
    let (store, watch) = (store(), Watch::default());
    let first = start(&store, "a", &watch);
    until("all on one node", || watch.counts(&["a"]) == [12]).await;
    let second = start(&store, "b", &watch);
    until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
    let third = start(&store, "c", &watch);
    until("thirds", || watch.counts(&["a", "b", "c"]) == [4, 4, 4]).await;
    assert_eq!(watch.ledger().starts, 12 + 6 + 4, "no more moves than needed");
    assert_eq!(second.partitions().owned().len(), 4);
    assert!(second.partitions().owned().iter().all(OwnedPartition::is_owned));

    second.leave().await;
    until("halves again", || watch.counts(&["a", "b", "c"]) == [6, 0, 6]).await;
    assert_eq!(watch.ledger().starts, 22 + 4);
    first.leave().await;
    until("all on the last", || watch.counts(&["a", "c"]) == [0, 12]).await;
    third.leave().await;
    assert_eq!(watch.counts(&["c"]), [0]);
    watch.assert_clean();
}

#[tokio::test]
async fn a_draining_node_gives_everything_away_and_gets_it_back() {
    let (store, watch) = (store(), Watch::default());
    let nodes = ["a", "b", "c"].map(|name| start(&store, name, &watch));
    until("thirds", || watch.counts(&["a", "b", "c"]) == [4, 4, 4]).await;
    nodes[1].set_draining(true);
    until("nothing on b", || watch.counts(&["a", "b", "c"]) == [6, 0, 6]).await;
    nodes[1].set_draining(false);
    until("thirds", || watch.counts(&["a", "b", "c"]) == [4, 4, 4]).await;
    watch.assert_clean();
}

#[tokio::test]
async fn leaders_come_and_go_and_nothing_moves() {
    let (store, watch) = (store(), Watch::default());
    let nodes = ["a", "b", "c"].map(|name| start(&store, name, &watch));
    until("thirds", || watch.counts(&["a", "b", "c"]) == [4, 4, 4]).await;
    let starts = watch.ledger().starts;
    for _ in 0..3 {
        let leader = nodes.iter().position(Node::is_leader);
        let leads = |at: usize| nodes[at].is_leader();
        if let Some(leader) = leader {
            nodes[leader].resign();
            until("another leader", || (0..3).any(|at| at != leader && leads(at))).await;
        }
    }
    // A new coordinator that moved something would have done so before it places these.
    let leader = nodes.iter().find(|node| node.is_leader()).expect("one leads");
    let more = TaskList::new("invoices".parse().expect("a plain name"), 3);
    leader.task_lists().add(more).await.expect("there is room");
    until("one more each", || watch.counts(&["a", "b", "c"]) == [5, 5, 5]).await;
    assert_eq!(watch.ledger().starts, starts + 3);
    watch.assert_clean();
}

#[tokio::test]
async fn when_the_stores_data_goes_back_owners_stop_before_others_begin() {
    for has_documents in [true, false] {
        let (memory, watch) = (memory(), Watch::default());
        let store: Arc<dyn Store> = memory.clone();
        let observer = builder(&store, "z").build().expect("it starts");
        until("a leader", || observer.is_leader()).await;
        let namespace = observer.namespace().clone();
        let mut copy = memory.backup(&namespace).expect("it has begun");
        observer.leave().await;
        let _nodes = ["a", "b"].map(|name| start(&store, name, &watch));
        until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
        if has_documents {
            copy = memory.backup(&namespace).expect("it has begun");
        }
        memory.restore(&namespace, copy);
        until("all anew", || watch.ledger().starts >= 24).await;
        until("halves again", || watch.counts(&["a", "b"]) == [6, 6]).await;
        watch.assert_clean();
    }
}

#[tokio::test]
async fn a_node_without_its_store_stops_before_others_take_over() {
    let (store, watch) = (store(), Watch::default());
    let leads = start(&store, "a", &watch);
    soon("the term", leads.leadership()).await.expect("it leads");
    let cut = outage(store.clone());
    let through: Arc<dyn Store> = cut.clone();
    let lonely = start(&through, "b", &watch);
    until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
    cut.layer().begin();
    until("nothing on b", || watch.counts(&["b"]) == [0]).await;
    assert!(lonely.partitions().owned().is_empty());
    until("all on a", || watch.counts(&["a"]) == [12]).await;
    cut.layer().end();
    until("halves again", || watch.counts(&["a", "b"]) == [6, 6]).await;
    watch.assert_clean();
}

#[tokio::test]
async fn a_fence_refuses_the_token_of_a_former_owner() {
    let (store, watch) = (store(), Watch::default());
    let first = start(&store, "a", &watch);
    until("all on one node", || watch.counts(&["a"]) == [12]).await;
    let third = Partition { list: orders(12).id, number: 3 };
    let token = || watch.ledger().works[&third].1;
    let before = token();
    let resource = third.to_string();
    let fence = FenceRegister::new(store.clone(), first.namespace().clone(), &resource);
    fence.admit(before).await.expect("nothing was admitted before");
    let _second = start(&store, "b", &watch);
    first.set_draining(true);
    until("all on the other", || watch.counts(&["a", "b"]) == [0, 12]).await;
    fence.admit(token()).await.expect("it is higher");
    let refused = fence.admit(before).await.expect_err("it is a former owner's");
    assert!(matches!(refused, FenceRegisterError::StaleEpoch(_)), "{refused}");
    watch.assert_clean();
}

#[tokio::test]
async fn lists_are_paused_grown_and_removed_while_they_run() {
    let (store, watch) = (store(), Watch::default());
    let nodes = ["a", "b"].map(|name| start(&store, name, &watch));
    until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
    let leader = || nodes.iter().find(|node| node.is_leader());
    until("a leader", || leader().is_some()).await;
    let lists = leader().expect("one leads").task_lists();
    let id: TaskListId = "jobs".parse().expect("a plain name");
    lists.add(TaskList::new(id.clone(), 10)).await.expect("there is room");
    until("ten more", || watch.counts(&["a", "b"]) == [11, 11]).await;
    let change = |change| lists.set(&id, change);
    let partitions = |count| TaskListChange { partitions: Some(count), ..Default::default() };
    let status = |status| TaskListChange { status: Some(status), ..Default::default() };
    change(partitions(6)).await.expect("it may shrink");
    until("four fewer", || watch.counts(&["a", "b"]) == [9, 9]).await;
    change(status(TaskListStatus::Paused)).await.expect("it may");
    until("only orders", || watch.counts(&["a", "b"]) == [6, 6]).await;
    change(partitions(12)).await.expect("it may grow");
    change(status(TaskListStatus::Active)).await.expect("it may");
    until("twelve of each", || watch.counts(&["a", "b"]) == [12, 12]).await;
    lists.remove(&id).await.expect("it is not declared");
    until("only orders", || watch.counts(&["a", "b"]) == [6, 6]).await;
    watch.assert_clean();
}

#[tokio::test]
async fn work_that_does_not_stop_is_waited_for() {
    let (store, watch) = (store(), Watch::default());
    let release = Arc::new(tokio::sync::Semaphore::new(0));
    let (slow, gate) = (watch.clone(), release.clone());
    let handler = partition_task(move |owned: OwnedPartition| {
        let (watch, gate) = (slow.clone(), gate.clone());
        async move {
            let _working = watch.begin("a".to_owned(), &owned);
            owned.released().await;
            let _pass = gate.acquire().await.expect("it is never closed");
        }
    });
    let first = builder(&store, "a").task_list(orders(12)).partitions(handler);
    let first = first.build().expect("it starts");
    until("all on one node", || watch.counts(&["a"]) == [12]).await;
    let _second = start(&store, "b", &watch);
    until("six are to stop", || first.partitions().owned().len() == 6).await;
    // Beats of more than two leases: a live owner is waited for.
    let beats = first.metrics().heartbeat_count;
    until("two leases", || first.metrics().heartbeat_count > beats + 12).await;
    assert_eq!(watch.counts(&["a", "b"]), [12, 0]);
    release.add_permits(100);
    until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
    watch.assert_clean();
}

#[tokio::test]
async fn an_owner_that_never_stops_is_forced_after_the_timeout_and_its_late_work_is_refused() {
    let (store, starts) = (store(), Arc::new(Mutex::new(Vec::new())));
    let timeout = Some(Duration::from_millis(200));
    let moves = MoveSettings { release_timeout: timeout, ..MoveSettings::default() };
    let node = |name: &'static str| {
        let starts = starts.clone();
        let never_stops = partition_task(move |owned: OwnedPartition| {
            starts.lock().expect("no holder panics").push((name, owned.token()));
            std::future::pending()
        });
        let node = builder(&store, name).task_list(orders(1)).partition_moves(moves);
        node.partitions(never_stops).build().expect("it starts")
    };
    let started = |at: usize| starts.lock().expect("no holder panics").get(at).copied();
    let first = node("a");
    until("an owner", || started(0).is_some()).await;
    let (_, before) = started(0).expect("it has started");
    let fence = FenceRegister::new(store.clone(), first.namespace().clone(), "orders#0");
    fence.admit(before).await.expect("it is the owner's");
    let _second = node("b");
    first.set_draining(true);
    until("another owner", || started(1).is_some()).await;
    let (other, after) = started(1).expect("it has started");
    assert_eq!(other, "b");
    fence.admit(after).await.expect("it is higher");
    let late = fence.admit(before).await.expect_err("it comes too late");
    assert!(matches!(late, FenceRegisterError::StaleEpoch(_)), "{late}");
}

#[tokio::test]
async fn a_task_that_panics_runs_again_and_its_node_keeps_the_partition() {
    let (store, watch) = (store(), Watch::default());
    let (ours, runs) = (watch.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = runs.clone();
    let handler = partition_task(move |owned: OwnedPartition| {
        let (watch, run) = (ours.clone(), counted.fetch_add(1, Ordering::Relaxed));
        async move {
            assert!(run > 0, "the first one panics");
            watch.work("a".to_owned(), owned).await;
        }
    });
    let node = builder(&store, "a").task_list(orders(1)).partitions(handler);
    let (node, mut events) = node.build_with_events().expect("it starts");
    let failed = Event::PartitionFailed {
        partition: "default/orders#0".to_owned(),
        error: "the first one panics".to_owned(),
        restart_in_ms: 1_000,
    };
    event(&mut events, "the panic", |event| *event == failed).await;
    assert_eq!(node.partitions().owned().len(), 1);
    until("it works", || watch.counts(&["a"]) == [1]).await;
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    node.leave().await;
    watch.assert_clean();
}

#[tokio::test]
async fn a_list_beyond_the_limits_is_refused_before_the_node_starts() {
    let store = store();
    let refused = |list: TaskList| match builder(&store, "a").task_list(list).build() {
        Err(problem @ BuildError::TaskList(_)) => problem.to_string(),
        other => unreachable!("{other:?}"),
    };
    assert_eq!(
        refused(orders(0)),
        "task list default/orders: partitions is 0; it must be 1 to 1000000"
    );
    assert_eq!(
        refused(TaskList { weight: 0, ..orders(1) }),
        "task list default/orders: weight is 0; it must be 1 to 1000"
    );
    let twice = builder(&store, "a").task_list(orders(1)).task_list(orders(2)).build();
    let problem = twice.expect_err("two of one name").to_string();
    assert_eq!(
        problem,
        "two task lists are named default/orders: each name can be used once in a namespace"
    );
}

#[tokio::test]
async fn a_single_instance_owns_everything() {
    let (store, watch) = (store(), Watch::default());
    let alone = node(&store, "a", &watch).tune(|settings| settings.enabled = false);
    let alone = alone.build().expect("it starts");
    until("all", || watch.counts(&["a"]) == [12]).await;
    assert!(alone.partitions().owned().iter().all(OwnedPartition::is_owned));
    let more = TaskList::new("invoices".parse().expect("a plain name"), 3);
    alone.task_lists().add(more).await.expect("there is room");
    until("three more", || watch.counts(&["a"]) == [15]).await;
    alone.leave().await;
    assert_eq!(watch.counts(&["a"]), [0]);
    watch.assert_clean();
}

#[tokio::test]
async fn any_process_may_ask_who_owns_what_and_watch_it() {
    let (store, watch) = (store(), Watch::default());
    let node = start(&store, "a", &watch);
    until("all on one node", || watch.counts(&["a"]) == [12]).await;
    let namespace = node.namespace().clone();
    let router = PartitionRouter::new(store.clone(), namespace, quick().request_timeout);
    let mut seen = router.watch();
    let map = router.refresh().await.expect("the store answers");
    assert!(seen.has_changed().expect("the router is there"));
    seen.mark_unchanged();
    let third = Partition { list: orders(12).id, number: 3 };
    let owner = map.owner(&third).expect("it has one").clone();
    assert_eq!((owner.node, owner.boot), (node.id().clone(), node.boot()));
    assert_eq!((map.iter().count(), owner.is_releasing), (12, false));
    let token = watch.ledger().works[&third].1;
    assert_eq!(owner.token, token);
    router.refresh().await.expect("the store answers");
    assert!(!seen.has_changed().expect("the router is there"), "nothing is new");

    let _second = start(&store, "b", &watch);
    until("halves", || watch.counts(&["a", "b"]) == [6, 6]).await;
    // The view named the documents before their owners read them.
    let map = router.refresh().await.expect("the store answers");
    let of = |name: &str| map.iter().filter(|(_, it)| it.node.as_str() == name).count();
    assert_eq!((of("a"), of("b")), (6, 6));
    assert!(seen.has_changed().expect("the router is there"));
}
