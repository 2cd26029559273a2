//! Nodes that start, join, or are not let in.

use baton_cli::cluster::Cluster;

use crate::judge::{judged, who};
use crate::nodes::{beats, gathered, goes_on, lead, start};
use crate::stage::{FAST, STEADY, Stage, id, now};

/// Every registered node with its state, as `baton status` shows it.
async fn states(stage: &Stage) -> Vec<(String, String)> {
    let status = stage.json(&["status"]).await;
    let members = status["members"].as_array().expect("a list").clone();
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    members.iter().map(|member| (text(&member["node"]), text(&member["state"]))).collect()
}

fn count(states: &[(String, String)], state: &str) -> usize {
    states.iter().filter(|(_, is)| is == state).count()
}

#[tokio::test]
async fn of_three_at_once_one_leads_and_an_ineligible_fourth_never_does() {
    let stage = Stage::new();
    let mut observers = stage.cluster(&[STEADY, &["--eligible", "false"]].concat()).await;
    observers.start(&id("0")).expect("the program was built");
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b", "c"]).await;
    gathered(&cluster, 4).await;
    let states = states(&stage).await;
    assert_eq!((count(&states, "leader"), count(&states, "candidate")), (1, 2), "{states:?}");
    assert_eq!(states[0], ("0".to_owned(), "observer".to_owned()));
    assert_eq!(who(&judged(&cluster)), [(first.epoch, first.node)]);

    cluster.stop().await.expect("they end");
    beats(&cluster, "0", 3).await;
    assert!(lead(&cluster).await.is_none());
    let led: Vec<String> = who(&judged(&cluster)).into_iter().map(|(_, node)| node).collect();
    assert!(!led.contains(&"0".to_owned()), "{led:?}");
}

#[tokio::test]
async fn ten_on_one_file_settle_on_one() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let names = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
    let first = start(&mut cluster, &names).await;
    let states = states(&stage).await;
    assert_eq!((count(&states, "leader"), count(&states, "candidate")), (1, 9), "{states:?}");
    goes_on(&cluster, first.epoch, now()).await;
    assert_eq!(who(&judged(&cluster)), [(1, first.node)]);
}

#[tokio::test]
async fn a_better_id_that_joins_changes_nothing() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    start(&mut cluster, &["b"]).await;
    cluster.start(&id("a")).expect("the program was built");
    gathered(&cluster, 2).await;
    beats(&cluster, "a", 3).await;
    goes_on(&cluster, 1, now()).await;
    assert_eq!(lead(&cluster).await.map(|lead| lead.node), Some(id("b")));
    assert_eq!(who(&judged(&cluster)), [(1, "b".to_owned())]);
}

#[tokio::test]
async fn a_second_process_of_one_id_is_refused_and_the_first_goes_on() {
    let stage = Stage::new();
    let mut cluster: Cluster = stage.cluster(FAST).await;
    start(&mut cluster, &["twin"]).await;
    let flags = [FAST, &["--id", "twin"]].concat();
    let said = stage.run(&flags, "echo > second").said().await;
    assert_eq!(said.code, Some(5), "{}", said.err);
    let message = "baton: node id twin is taken by another live process; \
                   choose another --id, or stop that one";
    assert_eq!(said.err.lines().last(), Some(message));
    assert!(!stage.path("second").exists());
    goes_on(&cluster, 1, now()).await;
    assert_eq!(who(&judged(&cluster)), [(1, "twin".to_owned())]);
}
