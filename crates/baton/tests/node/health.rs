//! Cluster health: the leader's verdict, published under its epoch and told when it changes.

use std::time::Duration;

use baton::plugins::health::{ClusterHealth, DOCUMENT, Reason, Verdict, published};
use baton::{Event, NodeBuilder};

use crate::cluster::{builder, event, quick, soon, store, until};

fn judging(builder: NodeBuilder) -> NodeBuilder {
    builder.plugin(ClusterHealth::default().every(Duration::from_millis(20)))
}

fn changed(verdict: Verdict) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::HealthChanged { verdict: now, .. } if *now == verdict)
}

#[tokio::test]
async fn the_verdict_is_published_and_told_when_it_changes() {
    let store = store();
    let (first, mut events) = judging(builder(&store, "a")).build_with_events().expect("it starts");
    let told = event(&mut events, "a lone node", changed(Verdict::Degraded)).await;
    let Event::HealthChanged { reasons, .. } = &told.event else {
        unreachable!("it was waited for");
    };
    assert!(reasons.contains(&Reason::FewCandidates { live: 1, min: 2 }), "{reasons:?}");
    let second = judging(builder(&store, "b")).build().expect("it starts");
    event(&mut events, "two nodes", changed(Verdict::Healthy)).await;
    let space = first.namespace();
    let health = published(&*store, space).await.expect("it answers").expect("it was published");
    assert_eq!((health.verdict, health.counts.candidates), (Verdict::Healthy, 2));
    assert_eq!((health.leader.node.as_ref(), health.leader.epoch), (Some(first.id()), 1));
    let document = store.read_document(space, DOCUMENT).await.expect("it answers").expect("there");
    assert!(document.version >= 2, "{}", document.version);
    let mut events = second.events();
    soon("the first to leave", first.leave()).await;
    event(&mut events, "a lone node again", changed(Verdict::Degraded)).await;
}

#[tokio::test]
async fn the_wait_for_the_other_nodes_is_no_part_of_a_run() {
    let store = store();
    let health = ClusterHealth::default().every(Duration::from_secs(3_600));
    let built = builder(&store, "a").plugin(health).build_with_events();
    let (node, mut events) = built.expect("it starts");
    let started = |event: &Event| matches!(event, Event::PluginPromoted { .. });
    let started_ms = event(&mut events, "the start", started).await.at_ms;
    until("the only run", || node.plugins()[0].runs == 1).await;
    let report = node.plugins().remove(0);
    let last = report.last.expect("it ran once");
    let two_beats = 2 * (quick().heartbeat_interval + quick().heartbeat_jitter);
    let waited_ms = u128::from(last.at_ms.saturating_sub(started_ms));
    // By the wall clock, in whole milliseconds.
    assert!(waited_ms + 5 >= two_beats.as_millis(), "{last:?} {started_ms}");
    assert_eq!(report.missed, 0);
}

#[tokio::test]
async fn one_candidate_can_be_enough_and_then_nothing_is_told() {
    let store = store();
    let health = ClusterHealth::default().every(Duration::from_millis(20)).candidates_min(1);
    let node = builder(&store, "a").plugin(health);
    let (node, mut events) = node.build_with_events().expect("it starts");
    let judged = async {
        while published(&*store, node.namespace()).await.expect("it answers").is_none() {
            events.next().await;
        }
    };
    soon("a verdict", judged).await;
    let health = published(&*store, node.namespace()).await.expect("it answers").expect("there");
    assert_eq!(health.verdict, Verdict::Healthy);
    while let Some(told) = events.try_next() {
        assert!(!matches!(told.event, Event::HealthChanged { .. }), "{told:?}");
    }
}

#[tokio::test]
async fn a_node_that_leads_alone_judges_no_other() {
    let store = store();
    let settings = quick().tune(|it| it.enabled = false);
    let node = judging(builder(&store, "a")).settings(settings).build().expect("it starts");
    drop(soon("the only term", node.leadership()).await.expect("it leads"));
    soon("it to leave", node.leave()).await;
    assert_eq!(published(&*store, node.namespace()).await, Ok(None));
}
