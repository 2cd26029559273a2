//! Processes that die without a word: the leader, its guard, a standby's guard.

use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::judge::{judged, who};
use crate::nodes::{code, gathered, goes_on, job, lead, member, names, record, start};
use crate::stage::{
    ALONE, DEFAULT, DEFAULT_BEAT, FAST, FAST_LEASE, STEADY, Stage, children, id, now, until,
};

#[tokio::test]
async fn killed_under_a_long_lease_it_is_proved_dead_replaced_and_returns_as_a_standby() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let first = start(&mut cluster, &["a", "b", "c"]).await;
    let dead = first.node.as_str();
    let old = record(&cluster, dead).await.expect("it is registered").boot;
    member(&mut cluster, dead).kill().expect("it is ours");
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, dead);

    // A silent stranger would have to be waited for, two beats. The kernel knows better.
    cluster.start(&id(dead)).expect("the program was built");
    let returned = now();
    let fresh = async || record(&cluster, dead).await.filter(|record| record.boot != old);
    let record = until("the killed one's return", fresh).await;
    assert!(now().since(returned) < 2 * DEFAULT_BEAT, "{:?}", now().since(returned));
    assert!(record.eligible && !record.draining);
    goes_on(&cluster, 2, now()).await;
    assert_eq!(lead(&cluster).await.map(|lead| lead.node), Some(id(&second.node)));
    assert_eq!(who(&judged(&cluster)), [(1, first.node.clone()), (2, second.node)]);
    let history = stage.json(&["history"]).await;
    assert_eq!(history[1]["ended"], "proved-dead", "{history}");
}

#[tokio::test]
async fn all_dead_for_a_while_the_gap_is_that_while() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(FAST).await;
    start(&mut cluster, &["a", "b"]).await;
    // The standby first: it would take over in the moment between the two.
    for name in ["b", "a"] {
        member(&mut cluster, name).kill().expect("it is ours");
    }
    let killed = now();
    // The lease of either is over by then, and as much time again has passed.
    let outage = 2 * FAST_LEASE;
    until("the outage's end", async || (now().since(killed) >= outage).then_some(())).await;
    cluster.start(&id("b")).expect("the program was built");
    let back = job(&cluster, 1).await;
    assert_eq!(back.node, "b");

    let history = stage.json(&["history"]).await;
    let gap = |name: &str| Duration::from_millis(history[0][name].as_u64().expect("a number"));
    assert!(gap("gap_ms") >= outage - FAST_LEASE, "{history}");
    assert!(gap("gap_at_most_ms") >= outage, "{history}");
    let said = stage.baton(&["history"]).await;
    assert!(said.out.contains(" to "), "the gap has two bounds: {}", said.out);
}

#[tokio::test]
async fn one_after_another_killed_each_is_proved_dead_and_the_last_one_takes_over() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let mut leads = start(&mut cluster, &["a", "b", "c"]).await;
    for epoch in [2, 3] {
        // The second one dies when its successor has only just learnt of it.
        member(&mut cluster, &leads.node).kill().expect("it is ours");
        leads = job(&cluster, epoch - 1).await;
    }
    assert_eq!(who(&judged(&cluster)).len(), 3);
    let history = stage.json(&["history"]).await;
    let ended = (&history[1]["ended"], &history[2]["ended"]);
    assert_eq!(ended, (&"proved-dead".into(), &"proved-dead".into()), "{history}");
}

#[tokio::test]
async fn killed_together_with_its_guard_its_job_is_gone_before_the_next_one_begins() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guard = children(pid, "guard").pop().expect("a leader has a guard");
    member(&mut cluster, &first.node).signal(Signal::STOP).expect("it lives");
    kill_process(guard, Signal::KILL).expect("it lives");
    member(&mut cluster, &first.node).kill().expect("it is ours");
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, first.node);
    goes_on(&cluster, 2, now()).await;
    assert_eq!(who(&judged(&cluster)).len(), 2);
}

#[tokio::test]
async fn killed_without_a_lifeline_it_is_replaced_all_the_same() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(&[FAST, &["--no-lifeline"]].concat()).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    member(&mut cluster, &first.node).kill().expect("it is ours");
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, first.node);
    assert_eq!(who(&judged(&cluster)).len(), 2);
    let history = stage.json(&["history"]).await;
    // A beat shows that the kernel has its lock back; one that is late finds the lease run out.
    let ended = history[1]["ended"].as_str();
    assert!(matches!(ended, Some("proved-dead" | "expired")), "{history}");
}

#[tokio::test]
async fn a_coordinator_without_its_guard_stops_says_so_and_is_replaced() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guards = children(pid, "guard");
    assert_eq!(guards.len(), 1, "{guards:?}");
    kill_process(guards[0], Signal::KILL).expect("it lives");
    assert_eq!(code(&mut cluster, &first.node).await, Some(1));
    let said = stage.said_by(&first.node);
    assert!(said.ends_with("the guard process died: signal: 9 (SIGKILL)\n"), "{said}");
    let second = job(&cluster, 1).await;
    assert_eq!(who(&judged(&cluster)), [(1, first.node), (2, second.node.clone())]);
    assert_eq!(names(&cluster).await, [id(&second.node)]);
    // It handed over, though it ended with an error: no node had to wait for its lease.
    let history = stage.json(&["history"]).await;
    assert!(history[1]["ended"]["released"].is_string(), "{history}");
}

#[tokio::test]
async fn a_guard_that_hangs_is_killed_in_time_and_replaced_and_its_node_may_lead_again() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(FAST).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guard = children(pid, "guard").pop().expect("a leader has a guard");
    kill_process(guard, Signal::STOP).expect("it lives");
    assert_eq!(stage.json(&["resign"]).await["epoch"], 2);
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, first.node);
    let other = async || children(pid, "guard").pop().filter(|pid| *pid != guard);
    until("another guard", other).await;
    let back = stage.json(&["transfer", "--to", &first.node]).await;
    assert_eq!(back["leader"], first.node.as_str());
    assert_eq!(job(&cluster, 2).await.node, first.node);
    assert_eq!(who(&judged(&cluster)).len(), 3);
}

#[tokio::test]
async fn a_standby_without_its_guard_leaves_and_the_coordinator_goes_on() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let standby = if first.node == "a" { "b" } else { "a" };
    let pid = member(&mut cluster, standby).pid();
    let guard = until("the standby's guard", async || children(pid, "guard").pop()).await;
    kill_process(guard, Signal::KILL).expect("it lives");
    assert_eq!(code(&mut cluster, standby).await, Some(1));
    let said = stage.said_by(standby);
    assert!(said.ends_with("the guard process died: signal: 9 (SIGKILL)\n"), "{said}");
    goes_on(&cluster, 1, now()).await;
    gathered(&cluster, 1).await;
    assert_eq!(names(&cluster).await, [id(&first.node)]);
}

#[tokio::test]
async fn with_restart_a_lost_guard_is_replaced_and_the_command_runs_again_in_the_same_term() {
    let stage = Stage::new();
    let script = "echo $BATON_EPOCH $$ >> starts; while :; do sleep 0.02; done";
    let mut running = stage.run(&[STEADY, ALONE, &["--restart"]].concat(), script);
    let starts = async || -> Vec<(u64, i32)> {
        let lines = stage.line("starts").await;
        let read = |line: &str| {
            let (epoch, pid) = line.split_once(' ')?;
            Some((epoch.parse().ok()?, pid.parse().ok()?))
        };
        lines.lines().filter_map(read).collect()
    };
    for count in [1, 2] {
        let begun = async || (starts().await.len() == count).then_some(());
        until("a command", begun).await;
        let guard = children(running.pid(), "guard").pop().expect("a leader has a guard");
        kill_process(guard, Signal::KILL).expect("it lives");
    }
    until("the third", async || (starts().await.len() == 3).then_some(())).await;
    assert!(running.runs(), "{}", running.err());
    let (epochs, pids): (Vec<u64>, Vec<i32>) = starts().await.into_iter().unzip();
    assert_eq!(epochs, [1, 1, 1], "{}", running.err());
    let alive = |pid: &&i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert_eq!(pids.iter().filter(alive).collect::<Vec<_>>(), [&pids[2]]);
    running.signal(Signal::TERM);
    assert_eq!(running.said().await.code, Some(128 + 15));
}

#[tokio::test]
async fn with_restart_a_standby_replaces_a_lost_guard() {
    let stage = Stage::new();
    let flags = [STEADY, &["--restart"]].concat();
    let first = stage.run(&[&flags[..], &["--id=a"]].concat(), "echo a > a; exec sleep 600");
    stage.line("a").await;
    let second = stage.run(&[&flags[..], &["--id=b"]].concat(), "echo b > b; exec sleep 600");
    until("the standby", async || second.err().contains("b stands by").then_some(())).await;
    let guard = async || children(second.pid(), "guard").pop();
    let guard = until("the standby's guard", guard).await;
    kill_process(guard, Signal::KILL).expect("it lives");
    let other = async || children(second.pid(), "guard").pop().filter(|pid| *pid != guard);
    until("another guard", other).await;
    first.signal(Signal::TERM);
    assert_eq!(stage.line("b").await, "b");
}
