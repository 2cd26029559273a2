//! Metrics and alerts: the endpoints answer, and promtool takes the configuration and the rules.

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::Newcomer;
use super::page;

pub const SECTIONS: &[&str] = &[SECTION];
const SECTION: &str = "Metrics and alerts";

async fn task(on: On) -> Newcomer {
    let mut me = Newcomer::arrive(on).await;
    me.next(SECTION).await;
    me.led(3, 0).await;
    until("the first node to be ready", async || {
        let said = me.run("curl -sf http://127.0.0.1:9091/readyz").await;
        (said.code == 0).then_some(())
    })
    .await;
    me.rest(SECTION).await;
    until("one that leads, by the figures", async || {
        let all = [9091, 9092, 9093].map(|port| format!("http://127.0.0.1:{port}/metrics"));
        let said = me.run(&format!("curl -s {}", all.join(" "))).await;
        let mut figures = said.out.lines().filter(|line| line.starts_with("baton_leader{"));
        let leading = figures.by_ref().filter(|line| line.ends_with(" 1")).count();
        assert!(leading <= 1, "{said:?}");
        (leading == 1).then_some(())
    })
    .await;

    // The operations page does the same for a command.
    me.script("worker", "#!/bin/sh\nwhile sleep 1; do :; done\n");
    let lines = page::under("docs/operations.md", "Read the metrics", "console")[0].steps();
    let [run, figures] = lines.as_slice() else { unreachable!("two lines") };
    me.start(&run.command, "worker").await;
    until("its figures", async || {
        let said = me.run(&figures.command).await;
        (said.code == 0 && said.out.contains("\nbaton_leader{")).then_some(())
    })
    .await;
    let told = me.read("worker.err");
    assert!(told.lines().all(|line| line.starts_with("{\"at\":")), "{told}");
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
