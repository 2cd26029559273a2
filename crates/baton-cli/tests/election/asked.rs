//! People who hand leadership over, and what they are told of it.

use baton_cli::cluster::Signal;

use crate::judge::{judged, who};
use crate::nodes::{beats, code, job, member, start};
use crate::running::Running;
use crate::stage::{STEADY, Stage, until};

/// The changes of leader that a watch has shown: who, in which epoch.
fn leaders(watch: &Running) -> Vec<(u64, String)> {
    let lines = watch.lines();
    let changes = lines.iter().filter(|line| line["change"] == "leader");
    let named = |line: &serde_json::Value| {
        Some((line["epoch"].as_u64()?, line["new"].as_str()?.to_owned()))
    };
    changes.filter_map(named).collect()
}

async fn shown(watch: &Running, epoch: u64) {
    let is_there = async || leaders(watch).iter().any(|(shown, _)| *shown == epoch).then_some(());
    until("the watch to show it", is_there).await;
}

#[tokio::test]
async fn resigning_and_transferring_move_the_job_and_every_report_agrees() {
    let stage = Stage::new();
    let mut cluster = stage.cluster(STEADY).await;
    let first = start(&mut cluster, &["a", "b", "c"]).await;
    let watch = Running::start(&stage, &["watch", "--json", "--interval", "10ms"]);
    until("the watch", async || (!watch.lines().is_empty()).then_some(())).await;
    assert_eq!(watch.lines()[0]["leader"], first.node.as_str());

    let resigned = stage.json(&["resign"]).await;
    let told = (&resigned["previous"], &resigned["previous_epoch"], &resigned["epoch"]);
    assert_eq!(told, (&first.node.as_str().into(), &1.into(), &2.into()), "{resigned}");
    let second = job(&cluster, 1).await;
    assert_eq!(resigned["leader"], second.node.as_str());
    assert_ne!(second.node, first.node);
    shown(&watch, 2).await;

    let third =
        ["a", "b", "c"].into_iter().find(|node| **node != *first.node && *node != second.node);
    let third = third.expect("there are three");
    beats(&cluster, third, 1).await;
    let transferred = stage.json(&["transfer", "--to", third]).await;
    assert_eq!(transferred["leader"], third, "{transferred}");
    assert_eq!(job(&cluster, 2).await.node, third);
    shown(&watch, 3).await;

    member(&mut cluster, third).signal(Signal::TERM).expect("it lives");
    assert_eq!(code(&mut cluster, third).await, Some(128 + 15));
    let fourth = job(&cluster, 3).await;
    shown(&watch, 4).await;

    let led = who(&judged(&cluster));
    let expected = [first.node, second.node, third.to_owned(), fourth.node];
    assert_eq!(led, (1..).zip(expected).collect::<Vec<_>>());
    assert_eq!(leaders(&watch), led[1..]);
    agree(&stage, &led).await;
}

/// Do `history` and `status` tell the same?
async fn agree(stage: &Stage, led: &[(u64, String)]) {
    let history = stage.json(&["history"]).await;
    let mut terms = Vec::new();
    let mut ends = Vec::new();
    for term in history.as_array().expect("a list").iter().rev() {
        let node = term["node"].as_str().expect("a name").to_owned();
        terms.push((term["epoch"].as_u64().expect("a number"), node));
        ends.push(term["ended"]["released"].as_str().unwrap_or("lasts").to_owned());
    }
    assert_eq!(terms, led);
    assert_eq!(ends, ["resigned", "transferred", "shutdown", "lasts"], "{history}");
    let status = stage.json(&["status"]).await;
    let (epoch, node) = led.last().expect("a node led");
    assert_eq!(status["epoch"], *epoch);
    assert_eq!(status["coordinator"]["node"], node.as_str());
    assert_eq!(status["last_change"]["to"], node.as_str());
    assert_eq!(status["last_change"]["why"]["released"], "shutdown", "{status}");
    assert_eq!(status["members"].as_array().map(Vec::len), Some(2), "{status}");
}
