//! Processes that die without a word: the coordinator, its guard, a standby's guard.

use rustix::process::{Signal, kill_process};

use crate::judge::{judged, who};
use crate::nodes::{SECOND, code, gathered, goes_on, job, lead, member, names, record, start};
use crate::stage::{DEFAULT, FAST, FAST_BEAT, FAST_LEASE, STEADY, Stage, children, id, now, until};

#[tokio::test]
async fn killed_under_a_long_lease_it_is_replaced_within_a_second_and_returns_as_a_standby() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let first = start(&mut cluster, &["a", "b", "c"]).await;
    let dead = first.node.as_str();
    member(&mut cluster, dead).kill().expect("it is ours");
    let killed = now();
    let second = job(&cluster, 1).await;
    assert!(second.at.since(killed) < SECOND, "{:?}", second.at.since(killed));
    assert_ne!(second.node, dead);

    // A silent stranger would have to be waited for: two beats, 12 s. The kernel knows better.
    let old = record(&cluster, dead).await.expect("nobody took it out").boot;
    cluster.start(&id(dead)).expect("the program was built");
    let returned = now();
    let fresh = async || record(&cluster, dead).await.filter(|record| record.boot != old);
    let record = until("the killed one's return", fresh).await;
    assert!(now().since(returned) < 3 * SECOND, "{:?}", now().since(returned));
    assert!(record.eligible && !record.draining);
    goes_on(&cluster, 2, now()).await;
    assert_eq!(lead(&cluster).await.map(|lead| lead.node), Some(id(&second.node)));
    assert_eq!(who(&judged(&cluster)), [(1, first.node.clone()), (2, second.node)]);
    let history = stage.json(&["history"]).await;
    assert_eq!(history[1]["ended"], "proved-dead", "{history}");
}

#[tokio::test]
async fn one_after_another_killed_the_last_one_still_takes_over_at_once() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let mut leads = start(&mut cluster, &["a", "b", "c"]).await;
    for epoch in [2, 3] {
        // The second one dies when its successor has only just learnt of it.
        member(&mut cluster, &leads.node).kill().expect("it is ours");
        let killed = now();
        leads = job(&cluster, epoch - 1).await;
        assert!(leads.at.since(killed) < 2 * SECOND, "{:?}", leads.at.since(killed));
    }
    assert_eq!(who(&judged(&cluster)).len(), 3);
}

#[tokio::test]
async fn killed_together_with_its_guard_its_job_is_gone_before_the_next_one_begins() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guard = children(pid, "baton-guard").pop().expect("a coordinator has a guard");
    member(&mut cluster, &first.node).pause().expect("it lives");
    kill_process(guard, Signal::KILL).expect("it lives");
    member(&mut cluster, &first.node).kill().expect("it is ours");
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, first.node);
    goes_on(&cluster, 2, now()).await;
    assert_eq!(who(&judged(&cluster)).len(), 2);
}

#[tokio::test]
async fn killed_without_a_lifeline_it_is_replaced_within_the_lease_and_a_beat() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(&[FAST, &["--no-lifeline"]].concat()).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    member(&mut cluster, &first.node).kill().expect("it is ours");
    let killed = now();
    let second = job(&cluster, 1).await;
    assert!(second.at.since(killed) < FAST_LEASE + FAST_BEAT, "{:?}", second.at.since(killed));
    assert_ne!(second.node, first.node);
    assert_eq!(who(&judged(&cluster)).len(), 2);
}

#[tokio::test]
async fn a_coordinator_without_its_guard_stops_says_so_and_is_replaced() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guards = children(pid, "baton-guard");
    assert_eq!(guards.len(), 1, "{guards:?}");
    kill_process(guards[0], Signal::KILL).expect("it lives");
    let killed = now();
    assert_eq!(code(&mut cluster, &first.node).await, Some(1));
    let said = stage.said_by(&first.node);
    assert!(said.ends_with("the guard process is gone: signal: 9 (SIGKILL)\n"), "{said}");
    let second = job(&cluster, 1).await;
    assert!(second.at.since(killed) < 5 * SECOND, "{:?}", second.at.since(killed));
    assert_eq!(who(&judged(&cluster)), [(1, first.node), (2, second.node.clone())]);
    assert_eq!(names(&cluster).await, [id(&second.node)]);
}

#[tokio::test]
async fn a_guard_that_hangs_is_killed_in_time_and_replaced_and_its_node_may_lead_again() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(FAST).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let pid = member(&mut cluster, &first.node).pid();
    let guard = children(pid, "baton-guard").pop().expect("a coordinator has a guard");
    kill_process(guard, Signal::STOP).expect("it lives");
    assert_eq!(stage.json(&["resign"]).await["epoch"], 2);
    let second = job(&cluster, 1).await;
    assert_ne!(second.node, first.node);
    let other = async || children(pid, "baton-guard").pop().filter(|pid| *pid != guard);
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
    let guard = until("the standby's guard", async || children(pid, "baton-guard").pop()).await;
    kill_process(guard, Signal::KILL).expect("it lives");
    assert_eq!(code(&mut cluster, standby).await, Some(1));
    let said = stage.said_by(standby);
    assert!(said.ends_with("the guard process is gone: signal: 9 (SIGKILL)\n"), "{said}");
    goes_on(&cluster, 1, now()).await;
    gathered(&cluster, 1).await;
    assert_eq!(names(&cluster).await, [id(&first.node)]);
}
