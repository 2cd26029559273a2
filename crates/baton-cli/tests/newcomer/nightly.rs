//! A nightly job: what happens to work that ends, and what the documentation says to run instead.

use std::collections::{BTreeMap, BTreeSet};

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::Newcomer;
use super::page::{self, shape};

pub const SECTIONS: &[&str] = &[SECTION];
const SECTION: &str = "A nightly job";
const NODES: [&str; 3] = ["web-1", "web-2", "web-3"];

/// A report, which begins when there is a file.
const REPORT: &str = "#!/bin/sh
until [ -e go ]; do sleep 1; done
echo \"$BATON_NODE_ID $BATON_EPOCH\" >>reports
";

/// Nights are short here.
const SLEEP: &str = "#!/bin/sh\nexec /bin/sleep 0.2\n";

fn reports(me: &Newcomer) -> Vec<(String, u64)> {
    let line = |line: &str| {
        let (node, epoch) = line.split_once(' ')?;
        Some((node.to_owned(), epoch.parse().ok()?))
    };
    me.read("reports").lines().filter_map(line).collect()
}

/// Each instance runs it once, in turn, and says which one is next.
async fn ends(me: &mut Newcomer) {
    for node in NODES {
        me.start(&format!("baton run --id {node} -- ./nightly-report"), node).await;
    }
    me.led(3, 0).await;
    me.run("touch go").await;
    assert_eq!(me.run("wait").await.code, 0);
    let ran: BTreeSet<String> = reports(me).into_iter().map(|(node, _)| node).collect();
    assert_eq!((reports(me).len(), ran.len()), (3, 3), "{:?}", reports(me));
    let promised = &page::under("docs/operations.md", "Work that ends", "text")[0].text;
    let said: String = NODES.iter().map(|node| me.read(&format!("{node}.err"))).collect();
    let told = said.lines().filter(|line| shape(line) == shape(promised.trim_end()));
    assert_eq!(told.count(), 2, "the last one has no successor: {said}");
}

async fn task(on: On) -> Newcomer {
    let mut me = Newcomer::arrive(on).await;
    me.script("nightly-report", REPORT);
    me.script("bin/sleep", SLEEP);
    ends(&mut me).await;

    me.run("rm reports").await;
    me.rest(SECTION).await;
    let (leader, epoch) = me.led(3, 3).await;
    until("a report of some nights", async || (reports(&me).len() > 2).then_some(())).await;
    assert_eq!(me.run(&format!("kill -9 '%?--id {leader} '")).await.code, 0);
    let later = || reports(&me).into_iter().find(|(_, by)| *by > epoch);
    let (next, _) = until("a report by the next leader", async || later()).await;
    assert_ne!(next, leader);
    let ran = reports(&me);
    assert!(ran.is_sorted_by_key(|(_, epoch)| *epoch), "{ran:?}");
    let mut by_epoch: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for (node, epoch) in ran {
        by_epoch.entry(epoch).or_default().insert(node);
    }
    assert!(by_epoch.values().all(|nodes| nodes.len() == 1), "{by_epoch:?}");
    me
}

#[tokio::test]
async fn on_postgresql() {
    task(On::Postgres).await.assert_did(SECTIONS);
}

#[tokio::test]
async fn on_the_embedded_store() {
    task(On::Embedded).await.assert_did(SECTIONS);
}
