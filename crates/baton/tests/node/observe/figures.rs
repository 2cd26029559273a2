//! The figures are what happened.

use std::time::Duration;

use baton::partitions::{OwnedPartition, TaskList, partition_task};
use baton::{
    Leadership, Node, NodeBuilder, Plugin, PluginError, PluginStatus, async_trait, cron, every,
};
use baton_store::clock::{Clock, SystemClock};

use super::client::{anywhere, scrape};
use super::parse::{Labels, Scrape};
use crate::cluster::{builder, quick, soon, store, until};

/// Works often, and asks the store for nothing.
pub struct Busy(pub String);

#[async_trait]
impl Plugin for Busy {
    fn name(&self) -> &str {
        &self.0
    }

    fn work_interval(&self) -> Duration {
        Duration::from_millis(10)
    }

    async fn coordinator_work(&self, _: &Leadership) -> Result<(), PluginError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_scrape_keeps_to_the_format_and_says_what_the_handle_says() {
    let node = builder(&store(), "a").metrics(anywhere()).build().expect("it starts");
    let term = soon("the term", node.leadership()).await.expect("it leads");
    until("five beats", || node.metrics().heartbeat_count >= 5).await;
    let seen = scrape(&node).await;
    assert_eq!(seen.value("baton_leader", &[("node", "a"), ("namespace", "default")]), 1.0);
    assert_eq!(seen.value("baton_epoch", &[]), term.epoch().0 as f64);
    assert_eq!((seen.value("baton_members", &[]), seen.value("baton_ready", &[])), (1.0, 1.0));
    let (soft, hard) = (
        seen.value("baton_time_to_soft_deadline_seconds", &[]),
        seen.value("baton_time_to_deadline_seconds", &[]),
    );
    assert!(0.0 < soft && soft < hard && hard < 1.5, "{soft} s, then {hard} s");
    assert!(seen.value("baton_term_seconds", &[]) > 0.0);
    assert_eq!(seen.value("baton_breaker_state", &[]), 0.0);
    assert_eq!(seen.value("baton_elections_total", &[]), 1.0);
    assert_eq!(seen.value("baton_events_total", &[("event", "coordinator-promoted")]), 1.0);
    let [p50, p99] = ["0.5", "0.99"]
        .map(|quantile| seen.value("baton_beat_latency_seconds", &[("quantile", quantile)]));
    assert!(0.0 < p50 && p50 <= p99);
    assert_eq!(seen.value("baton_lease_timeout_seconds", &[]), 1.5);
    let leaderless = seen.value("baton_leaderless_seconds_total", &[]);
    assert!(leaderless > 0.0, "before it led");
    assert_eq!(scrape(&node).await.value("baton_leaderless_seconds_total", &[]), leaderless);
}

#[tokio::test]
async fn the_same_figures_are_there_without_any_endpoint() {
    let node = builder(&store(), "a").build().expect("it starts");
    soon("the term", node.leadership()).await.expect("it leads");
    assert_eq!(node.metrics_endpoint(), None);
    let figures = node.node_metrics();
    assert_eq!(figures.value("baton_leader", &[]), Some(1.0));
    let read = Scrape::read(&figures.to_string());
    assert_eq!(read.value("baton_leader", &[]), 1.0);
}

#[tokio::test]
async fn a_node_that_leads_alone_has_no_deadline_and_asks_no_store() {
    let settings = quick().tune(|it| it.enabled = false);
    let node = builder(&store(), "a").settings(settings).build().expect("it starts");
    soon("the only term", node.leadership()).await.expect("it leads");
    let seen = Scrape::read(&node.node_metrics().to_string());
    assert_eq!(seen.value("baton_time_to_deadline_seconds", &[]), f64::INFINITY);
    assert_eq!((seen.value("baton_ready", &[]), seen.value("baton_leader", &[])), (1.0, 1.0));
    assert_eq!(seen.sum("baton_store_operations_total", |_| true), 0.0);
}

#[tokio::test]
async fn partitions_are_counted_where_they_are_owned_and_those_without_an_owner_by_the_leader() {
    let store = store();
    let orders = TaskList::new("orders".parse().expect("a plain name"), 3);
    let leader = builder(&store, "a").task_list(orders).build().expect("it starts");
    let unowned = || leader.node_metrics().value("baton_partitions_unowned", &[]);
    until("three without an owner", || unowned() == Some(3.0)).await;
    let follows = quick().tune(|it| it.eligible = false);
    let works = partition_task(|owned: OwnedPartition| async move { owned.released().await });
    let owner = builder(&store, "b").settings(follows).partitions(works);
    let owner = owner.build().expect("it starts");
    let owned = || owner.node_metrics().value("baton_partitions_owned", &[]);
    until("three with an owner", || (owned(), unowned()) == (Some(3.0), Some(0.0))).await;
    owner.leave().await;
    until("three without an owner again", || unowned() == Some(3.0)).await;
    assert_eq!(leader.node_metrics().value("baton_partitions_owned", &[]), Some(0.0));
}

#[tokio::test]
async fn work_past_its_deadline_is_timed_until_it_stops() {
    let (free, blocked) = std::sync::mpsc::channel::<()>();
    let blocked = std::sync::Mutex::new(blocked);
    let work = every("blocks", Duration::from_secs(60), move |_| {
        let freed = blocked.lock().expect("no holder panics").recv();
        std::future::ready(freed.map_err(PluginError::from))
    });
    let node = builder(&store(), "a").plugin(work).build().expect("it starts");
    let overrun = || node.node_metrics().value("baton_overrun_seconds", &[]);
    soon("the term", node.leadership()).await.expect("it leads");
    until("the block", || node.plugins()[0].doing == PluginStatus::Working).await;
    assert_eq!(overrun(), Some(0.0));
    node.resign();
    until("the overrun", || overrun().is_some_and(|seconds| seconds > 0.1)).await;
    free.send(()).expect("it waits");
    until("the end of the work", || overrun() == Some(0.0)).await;
}

#[tokio::test]
async fn runs_of_a_schedule_are_counted_by_their_ends_on_the_node_that_ran_them() {
    let store = store();
    let each_second = |name: &str, result: Result<(), &'static str>| {
        cron(name, "* * * * * *", move |_| std::future::ready(result.map_err(PluginError::from)))
    };
    let with = |name| {
        let builder = builder(&store, name).schedule(each_second("works", Ok(())));
        builder.schedule(each_second("fails", Err("exit code 3"))).metrics(anywhere())
    };
    let leader = with("a").build().expect("it starts");
    soon("the term", leader.leadership()).await.expect("it leads");
    let follower = with("b").build().expect("it starts");
    let runs = |node: &Node, schedule, outcome| {
        let labels = [("schedule", schedule), ("outcome", outcome)];
        node.node_metrics().value("baton_schedule_runs_total", &labels)
    };
    until("two runs of each", || {
        runs(&leader, "works", "done") >= Some(2.0) && runs(&leader, "fails", "failed") >= Some(2.0)
    })
    .await;
    let seen = scrape(&leader).await;
    let of = |name, schedule| seen.value(name, &[("schedule", schedule)]);
    let now_s = SystemClock.wall_ms() as f64 / 1e3;
    let succeeded = of("baton_schedule_last_success_timestamp_seconds", "works");
    assert!(now_s - 10.0 < succeeded && succeeded <= now_s, "{succeeded} at {now_s}");
    assert_eq!(of("baton_schedule_last_success_timestamp_seconds", "fails"), 0.0);
    assert!(of("baton_schedule_late_seconds", "works") < 10.0);
    assert_eq!(runs(&leader, "works", "failed"), Some(0.0), "there from the start");
    assert_eq!(runs(&follower, "works", "done"), Some(0.0), "it ran elsewhere");
    let missed = seen.sum("baton_schedule_missed_total", |labels| labels["reason"] == "too-many");
    assert_eq!(missed, 0.0);
}

fn carries_a_beat(labels: &Labels) -> bool {
    ["beat", "renew", "acquire"].contains(&labels["operation"].as_str())
        && labels["outcome"] == "ok"
}

/// Beats and requests between two scrapes: how many of the core's beats, how many requests that
/// carry one, how many requests of any kind.
async fn over_ten_beats(node: &Node) -> [f64; 3] {
    let figures = || async {
        let seen = scrape(node).await;
        [
            seen.value("baton_beat_latency_seconds_count", &[]),
            seen.sum("baton_store_operations_total", carries_a_beat),
            seen.sum("baton_store_operations_total", |_| true),
        ]
    };
    let before = figures().await;
    let wanted = node.metrics().heartbeat_count + 10;
    until("ten beats", || node.metrics().heartbeat_count >= wanted).await;
    let after = figures().await;
    [0, 1, 2].map(|index| after[index] - before[index])
}

#[tokio::test]
async fn a_steady_node_makes_one_request_a_beat_whatever_the_number_of_plugins() {
    for plugins in [1, 20] {
        let store = store();
        let busy = (0..plugins).map(|number| Busy(format!("busy-{number}")));
        let leader = busy.fold(builder(&store, "a").metrics(anywhere()), NodeBuilder::plugin);
        let leader = leader.build().expect("it starts");
        soon("the term", leader.leadership()).await.expect("it leads");
        let follower = builder(&store, "b").metrics(anywhere()).build().expect("it starts");
        until("both to be known", || follower.active_workers().len() == 2).await;
        let [beats, carried, requests] = over_ten_beats(&follower).await;
        // A scrape may fall between a request's end and the core's word on it.
        assert!((beats - carried).abs() <= 1.0, "{plugins}: {carried} for {beats} beats");
        assert_eq!(carried, requests, "{plugins}: a follower asks for nothing else");
        let [beats, carried, requests] = over_ten_beats(&leader).await;
        assert!((beats - carried).abs() <= 1.0, "{plugins}: {carried} for {beats} beats");
        // The leader reads the members with every beat, or with every second one.
        assert!(requests <= 2.0 * carried + 1.0, "{plugins}: {requests} for {beats} beats");
    }
}
