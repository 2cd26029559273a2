//! An old leader that was stopped right before its write: when it goes on, it is refused.

use baton_core::protocol::Claim;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::paused::{self, Old};

use crate::fence::add_one;
use crate::ground::{Postgres, Session};

/// The old leader: takes the lease, and writes when it is told to.
async fn lead(url: &str) {
    let store = baton_drivers::open(url).await.expect("the server answers");
    let held = Contender::new(&store, &namespace("web"), 1).take(Claim::Vacant).await;
    let mut session = Session::open(url).await;
    paused::say(&format!("epoch {}", held.epoch));
    paused::wait_for_word();
    let written = add_one(&mut session, held.epoch.0).await;
    paused::say(&written.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_leader_that_was_stopped_is_refused() {
    if let Some(url) = paused::orders_if_asked() {
        return lead(&url).await;
    }
    let ground = Postgres::start().await;
    let store = ground.open().await;
    ground.sql("CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (0)").await;
    let test = "paused::an_old_leader_that_was_stopped_is_refused";
    let mut old = Old::start(test, &ground.server.url());
    assert_eq!(old.hear().await, "epoch 1");
    old.pause();
    old.tell().await;

    let boot = baton_core::ids::BootId(1);
    let held = Contender::new(&store, &namespace("web"), 2).take(Claim::Dead { boot }).await;
    let mut session = Session::open(&ground.server.url()).await;
    add_one(&mut session, held.epoch.0).await.expect("it leads");
    ground.sql("UPDATE numbers SET n = 100").await;

    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to numbers; its term is over";
    assert_eq!(old.hear().await, wanted);
    assert!(old.ended_well().await);
    assert_eq!(ground.sql("SELECT n FROM numbers").await, ["100"], "the new leader's");
}
