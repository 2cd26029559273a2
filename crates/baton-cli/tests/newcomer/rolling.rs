//! Three instances, a crash, a resignation, and a rolling restart.

use std::collections::{BTreeMap, BTreeSet};

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::{GUIDE, Newcomer};
use super::page;

pub const SECTIONS: &[&str] = &[INSTANCES, RESTART];
const INSTANCES: &str = "Three instances";
const RESTART: &str = "A rolling restart";

async fn task(on: On) -> Newcomer {
    let mut me = Newcomer::arrive(on).await;
    me.next(INSTANCES).await;
    me.next(INSTANCES).await;
    assert_eq!(me.led(1, 0).await, ("web-1".to_owned(), 1));
    let works = || me.terminal.all_printed().contains("web-1 works in epoch 1\n");
    until("the first work", async || works().then_some(())).await;
    me.next(INSTANCES).await;
    me.led(3, 0).await;
    me.next(INSTANCES).await;

    me.next(INSTANCES).await;
    let (second, epoch) = me.led(2, 1).await;
    assert_eq!(epoch, 2);
    me.next(INSTANCES).await;
    let (third, epoch) = me.led(2, 2).await;
    assert!(epoch == 3 && third != second, "{third} leads after {second}, epoch {epoch}");

    // One after the other: what the page does to the second is done to the third.
    me.next(RESTART).await;
    me.here_again("web-2").await;
    for step in page::under(GUIDE, RESTART, "console")[0].steps() {
        me.run(&step.command.replace('2', "3")).await;
    }
    me.here_again("web-3").await;
    me.led(2, 3).await;
    one_at_a_time(&mut me).await;
    me
}

/// No two terms overlap, each but the crash was handed over, and one process works in an epoch.
async fn one_at_a_time(me: &mut Newcomer) {
    let history = me.json("baton history").await;
    let mut terms: Vec<_> = history.as_array().expect("a list").iter().collect();
    terms.sort_by_key(|term| term["epoch"].as_u64());
    assert!((4..=5).contains(&terms.len()), "{history}");
    for pair in terms.windows(2) {
        let [earlier, later] = pair else { unreachable!("two at a time") };
        assert!(earlier["to"].as_str() <= later["from"].as_str(), "{history}");
        let handed_over = earlier["ended"].get("released").is_some();
        assert_eq!(handed_over, earlier["epoch"] != 1, "{history}");
    }
    let mut workers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in me.terminal.all_printed().lines() {
        if let Some((node, epoch)) = line.split_once(" works in epoch ") {
            workers.entry(epoch.to_owned()).or_default().insert(node.to_owned());
        }
    }
    assert!(workers.values().all(|nodes| nodes.len() == 1), "{workers:?}");
}

#[tokio::test]
async fn on_postgresql() {
    task(On::Postgres).await.assert_did(SECTIONS);
}

#[tokio::test]
async fn on_the_embedded_store() {
    task(On::Embedded).await.assert_did(SECTIONS);
}
