//! From the first line on: the program and the README's first block, then the library.

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::Newcomer;
use super::page;

pub const SECTIONS: &[&str] = &["Install", "The library", "A plugin", "Fenced writes"];

async fn task(on: On) -> Newcomer {
    let mut me = Newcomer::arrive_without_program(on).await;
    assert_ne!(me.run("baton --version").await.code, 0, "it is not installed yet");
    me.next("Install").await;

    me.script("billing-consumer", "#!/bin/sh\nwhile sleep 1; do :; done\n");
    me.script("nightly-report", "#!/bin/sh\necho \"$BATON_SLOT\" >>reports\n");
    me.script("migrate", "#!/bin/sh\necho \"$BATON_KEY\" >>migrations\n");
    let readme = &page::under("README.md", "baton", "console")[0].steps();
    let [report, once, run, status] = readme.as_slice() else {
        unreachable!("README begins with four lines")
    };
    for name in ["a", "b", "c"] {
        me.start(&run.command, name).await;
        me.start(&report.command, &format!("report-{name}")).await;
        me.start(&once.command, &format!("once-{name}")).await;
    }
    until("a report", async || {
        (me.run("baton schedules run nightly-report --wait").await.code == 0).then_some(())
    })
    .await;
    assert_eq!(me.read("reports").lines().count(), 1, "{}", me.read("reports"));
    until("a migration", async || (!me.read("migrations").is_empty()).then_some(())).await;
    assert_eq!(me.run(&once.command).await.code, 0);
    assert_eq!(me.read("migrations"), "migrate-42\n");
    me.led(3, 0).await;
    let said = me.run(&status.command).await;
    let leaders = said.out.lines().filter(|line| line.contains("  leader  ")).count();
    assert_eq!((said.code, leaders), (0, 1), "{said:?}");
    me.run("kill $(jobs -p); wait").await;

    for section in &SECTIONS[1..] {
        me.rest(section).await;
    }
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
