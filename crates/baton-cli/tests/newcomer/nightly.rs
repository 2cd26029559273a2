//! A nightly job: what happens to work that ends, and what the documentation says to run instead.

use std::collections::BTreeSet;

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
    ends(&mut me).await;

    me.run("rm reports").await;
    me.next(SECTION).await;
    until("the schedule", async || {
        (me.run("baton schedules show nightly-report").await.code == 0).then_some(())
    })
    .await;
    me.rest(SECTION).await;
    // One that was asked for, and one for the key.
    assert_eq!(reports(&me).len(), 2, "{:?}", reports(&me));
    let (leader, epoch) = reports(&me)[0].clone();
    assert_eq!(me.run(&format!("kill -9 '%?--id {leader} '")).await.code, 0);
    let again = me.run("baton schedules run nightly-report --wait").await;
    assert_eq!(again.code, 0, "{}", again.out);
    let (next, later) = reports(&me)[2].clone();
    assert_ne!(next, leader);
    assert!(later > epoch, "{:?}", reports(&me));
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
