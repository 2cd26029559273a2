//! Leadership that is given up: one node that ends, and five in a row.

use baton_cli::cluster::Signal;

use crate::judge::{judged, who};
use crate::nodes::{code, gathered, goes_on, job, lead, member, names, start};
use crate::stage::{DEFAULT, DEFAULT_BEAT, STEADY, Stage, id, now};

#[tokio::test]
async fn terminated_it_ends_its_job_first_then_hands_over_and_is_gone_from_the_store() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    member(&mut cluster, &first.node).signal(Signal::TERM).expect("it lives");
    // The job had no answer to TERM but to die of it.
    assert_eq!(code(&mut cluster, &first.node).await, Some(128 + 15));
    let second = job(&cluster, 1).await;
    assert_eq!(who(&judged(&cluster)), [(1, first.node), (2, second.node.clone())]);
    assert_eq!(names(&cluster).await, [id(&second.node)]);

    // The last one has no node to hand over to, and still leaves a free lease.
    member(&mut cluster, &second.node).signal(Signal::TERM).expect("it lives");
    assert_eq!(code(&mut cluster, &second.node).await, Some(128 + 15));
    assert!(lead(&cluster).await.is_none());
    assert!(names(&cluster).await.is_empty());
    let history = stage.json(&["history"]).await;
    let ended = |at: usize| history[at]["ended"]["released"].as_str();
    assert_eq!((ended(0), ended(1)), (Some("shutdown"), Some("shutdown")), "{history}");
}

#[tokio::test]
async fn a_standby_that_is_terminated_ends_well_and_the_job_goes_on() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b"]).await;
    let standby = if first.node == "a" { "b" } else { "a" };
    member(&mut cluster, standby).signal(Signal::TERM).expect("it lives");
    assert_eq!(code(&mut cluster, standby).await, Some(0));
    goes_on(&cluster, 1, now()).await;
    assert_eq!(names(&cluster).await, [id(&first.node)]);
    assert_eq!(who(&judged(&cluster)), [(1, first.node)]);
}

#[tokio::test]
async fn a_successor_that_was_killed_is_not_waited_for() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(DEFAULT).await;
    let first = start(&mut cluster, &["a", "b", "c"]).await;
    let heir = ["a", "b"].into_iter().find(|node| **node != *first.node).expect("one of two");
    member(&mut cluster, heir).kill().expect("it is ours");
    member(&mut cluster, &first.node).signal(Signal::TERM).expect("it lives");
    let asked = now();
    let second = job(&cluster, 1).await;
    // Named, it would have been waited for: a beat and its jitter, to show itself.
    assert!(second.at.since(asked) < DEFAULT_BEAT, "{:?}", second.at.since(asked));
    assert!(second.node != first.node && second.node != heir, "{second:?}");
    assert_eq!(who(&judged(&cluster)).len(), 2);
}

#[tokio::test]
async fn a_rolling_deploy_of_five_hands_the_job_on_five_times() {
    let stage = Stage::new();
    // The node that was started last comes last: each of the five leads when its turn comes.
    let mut cluster = stage.cluster(&[STEADY, &["--policy", "incumbent"]].concat()).await;
    let nodes = ["a", "b", "c", "d", "e"];
    start(&mut cluster, &nodes).await;
    for _ in nodes {
        let leads = lead(&cluster).await.expect("a node leads");
        let epoch = leads.lease.version.epoch.0;
        member(&mut cluster, leads.node.as_str()).signal(Signal::TERM).expect("it lives");
        assert_eq!(code(&mut cluster, leads.node.as_str()).await, Some(128 + 15));
        cluster.start(&leads.node).expect("the program was built");
        job(&cluster, epoch).await;
        gathered(&cluster, nodes.len()).await;
    }
    let ticks = judged(&cluster);
    let mut led: Vec<String> = who(&ticks).into_iter().map(|(_, node)| node).take(5).collect();
    led.sort();
    assert_eq!(led, nodes);
    // Each change was a handover: no lease had to run out, and no process to be proved dead.
    let history = stage.json(&["history"]).await;
    let ended = history.as_array().expect("a list").iter().skip(1);
    let ended: Vec<&str> = ended.filter_map(|term| term["ended"]["released"].as_str()).collect();
    assert_eq!(ended, ["shutdown"; 5], "{history}");
}
