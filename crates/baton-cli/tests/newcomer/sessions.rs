//! Sessions that expire: removed in time and not before, also after the leader's death.

use baton_testbed::wait::until;

use super::fixture::On;
use super::newcomer::Newcomer;
use super::page;

pub const SECTIONS: &[&str] = &[SECTION];
const SECTION: &str = "Clean up sessions";

/// Adds an expired session and one that lasts, and waits until the expired one is gone.
async fn swept(me: &Newcomer, expired: i32, lasts: i32) {
    let [past, future] = [-60, 3600].map(|seconds| me.fixture.in_seconds(seconds));
    let values = format!("({expired}, {past}), ({lasts}, {future})");
    me.fixture.execute(&format!("INSERT INTO sessions VALUES {values}")).await;
    let gone = format!("SELECT CAST(count(*) AS bigint) FROM sessions WHERE id = {expired}");
    until("the session to go", async || (me.fixture.numbers(&gone).await == [0]).then_some(()))
        .await;
}

async fn task(on: On) -> Newcomer {
    let mut me = Newcomer::arrive(on).await;
    for _ in ["the table", "the file", "the nodes"] {
        me.next(SECTION).await;
    }
    let (leader, _) = me.led(3, 0).await;
    swept(&me, 1, 101).await;
    until("the leader's report on its plugins", async || {
        me.run("baton plugins --json").await.out.contains("\"ttl-1\"").then_some(())
    })
    .await;
    me.next(SECTION).await;

    assert_eq!(me.run(&format!("kill -9 '%?--id {leader} '")).await.code, 0);
    swept(&me, 2, 102).await;
    let left = "SELECT CAST(id AS bigint) FROM sessions ORDER BY id";
    assert_eq!(me.fixture.numbers(left).await, [101, 102], "none goes early");

    // The table of the operations page, which names the database.
    let heading = "Removing what has expired";
    let operations = &page::under("docs/operations.md", heading, "toml")[0].text;
    let one = operations.split("\n\n").next().expect("it begins with a table");
    me.save("operations.toml", &one.replace("db/app", "db/shop"));
    let said = me.run("baton doctor --config operations.toml").await;
    assert!([0, 6].contains(&said.code) && said.out.contains("sessions"), "{said:?}");
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
