//! Every way in which a server's data can go back, and every one in which it only seems to.

use baton_core::ids::{Epoch, Lineage};
use baton_core::protocol::Claim;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::subject::Fixture;

use crate::fixture::{Postgres, program, run, shown};

/// Two terms come and go.
async fn two_terms(node: &Contender) -> Lineage {
    for _ in 0..2 {
        let held = node.take(Claim::Vacant).await;
        node.release(held).await;
    }
    node.look().await.lineage
}

/// The lineage has moved, and the next epoch is beyond what was lost.
async fn went_on(node: &Contender, before: Lineage) -> Lineage {
    let after = node.look_until_answered().await.lineage;
    assert!(after > before, "{after:?} after {before:?}");
    let inspected = node.store.inspect(&node.namespace).await.expect("it is answered");
    assert_eq!(inspected.lineage, after);
    let held = node.take(Claim::Vacant).await;
    assert!(held.epoch > Epoch(Epoch::LEAP), "{held:?}");
    node.release(held).await;
    after
}

#[tokio::test]
async fn restarts_and_crashes_take_nothing_back() {
    let fixture = Postgres::start().await;
    let node = Contender::new(&fixture.open().await, &namespace("web"), 1);
    let before = two_terms(&node).await;
    assert_eq!(fixture.restart().await, Ok(true));
    assert_eq!(node.look_until_answered().await.lineage, before);
    fixture.server.kill().await.expect("it is ours");
    fixture.server.start_again().await.expect("it recovers");
    assert_eq!(node.look_until_answered().await.lineage, before);
    assert_eq!(node.take(Claim::Vacant).await.epoch, Epoch(3));
}

/// A snapshot of the disk comes back on the same timeline. Nothing at the server shows it, but a
/// node that was there before has seen more of the log than the server has now.
#[tokio::test]
async fn a_snapshot_of_the_disk_is_noticed_by_a_node_that_was_there() {
    let fixture = Postgres::start().await;
    let node = Contender::new(&fixture.open().await, &namespace("web"), 1);
    node.look().await;
    let copy = fixture.data().with_file_name("copy");
    fixture.snapshot(&copy).expect("there is room");
    let before = two_terms(&node).await;
    fixture.put_back(&copy).await.expect("there is room");
    fixture.server.start_again().await.expect("it recovers");
    assert!(went_on(&node, before).await > before);
}

/// A dump comes back into the same server and the same database.
#[tokio::test]
async fn a_dump_that_comes_back_is_noticed_by_every_node() {
    let fixture = Postgres::start().await;
    let node = Contender::new(&fixture.open().await, &namespace("web"), 1);
    node.look().await;
    let (url, dump) = (fixture.server.url(), shown(&fixture.data().with_file_name("dump.sql")));
    run(&program("pg_dump"), &["--clean", "-f", &dump, &url]).expect("it can be read");
    let before = two_terms(&node).await;
    run(&program("psql"), &["-q", "-v", "ON_ERROR_STOP=1", "-f", &dump, &url]).expect("it fits");
    // A fresh node remembers nothing: only the server shows that the dump came back.
    let fresh = Contender::new(&fixture.open().await, &namespace("web"), 2);
    let first = went_on(&fresh, before).await;
    run(&program("psql"), &["-q", "-v", "ON_ERROR_STOP=1", "-f", &dump, &url]).expect("it fits");
    let fresh = Contender::new(&fixture.open().await, &namespace("web"), 3);
    assert!(went_on(&fresh, first).await > first, "the same dump, back again");
}
