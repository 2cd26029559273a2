//! An old leader that was stopped right before its write, or in the middle of it: the next leader
//! writes within a lease, and the old one is refused when it goes on.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome};
use baton_drivers::postgres::fence::{Fence, FenceError};
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::wait::{soon, until};

use crate::fence::add_one;
use crate::fixture::{Postgres, Session};

/// The old leader: takes the lease, and writes when it is told to.
async fn lead(url: &str) {
    let store = baton_drivers::open(url).await.expect("the server answers");
    let held = Contender::new(&store, &namespace("web"), 1).take(Claim::Vacant).await;
    let mut session = Session::open(url).await;
    paused::report(&format!("epoch {}", held.epoch));
    paused::wait_for_go_ahead();
    let written = add_one(&mut session, held.epoch.0).await;
    paused::report(&written.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_leader_that_was_stopped_is_refused() {
    if let Some(url) = paused::orders_if_asked() {
        return lead(&url).await;
    }
    let fixture = Postgres::start().await;
    let store = fixture.open().await;
    fixture.sql("CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (0)").await;
    let test = "paused::an_old_leader_that_was_stopped_is_refused";
    let mut old = PausedLeader::start(test, &fixture.server.url());
    assert_eq!(old.next_report().await, "epoch 1");
    old.pause();
    old.send_go_ahead().await;

    let boot = baton_core::ids::BootId(1);
    let held = Contender::new(&store, &namespace("web"), 2).take(Claim::Dead { boot }).await;
    let mut session = Session::open(&fixture.server.url()).await;
    add_one(&mut session, held.epoch.0).await.expect("it leads");
    fixture.sql("UPDATE numbers SET n = 100").await;

    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to numbers; its term is over (";
    let said = old.next_report().await;
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    assert_eq!(fixture.sql("SELECT n FROM numbers").await, ["100"], "the new leader's");
}

/// The lease, and so the bound of a fenced transaction.
const LEASE: Duration = Duration::from_secs(4);

/// Adds one to the number, in a transaction that lasts no longer than a lease. `meanwhile` runs
/// when all is written but the commit.
async fn add_within_a_lease(
    session: &mut Session,
    epoch: Epoch,
    meanwhile: impl FnOnce(),
) -> Result<(), FenceError> {
    let transaction = session.client.transaction().await?;
    Fence::new("numbers").within(LEASE).admit(&transaction, epoch).await?;
    transaction.execute("UPDATE numbers SET n = n + 1", &[]).await?;
    meanwhile();
    Ok(transaction.commit().await?)
}

/// The old leader: is stopped in its transaction, and tries again when that has failed.
async fn lead_and_stop_inside(url: &str) {
    let store = baton_drivers::open(url).await.expect("the server answers");
    let node = Contender::new(&store, &namespace("web"), 1).with_ttl(LEASE);
    let held = node.take(Claim::Vacant).await;
    let mut session = Session::open(url).await;
    let written = add_within_a_lease(&mut session, held.epoch, || {
        paused::report("inside");
        paused::wait_for_go_ahead();
    });
    assert!(matches!(written.await, Err(FenceError::Store(_))), "the server has ended it");
    let mut session = Session::open(url).await;
    let again = add_within_a_lease(&mut session, held.epoch, || {}).await;
    paused::report(&again.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_stopped_inside_its_transaction_holds_up_the_next_for_a_lease_at_most() {
    if let Some(url) = paused::orders_if_asked() {
        return lead_and_stop_inside(&url).await;
    }
    let fixture = Postgres::start().await;
    let store = fixture.open().await;
    fixture.sql("CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (0)").await;
    let test = "paused::\
                a_leader_stopped_inside_its_transaction_holds_up_the_next_for_a_lease_at_most";
    let mut old = PausedLeader::start(test, &fixture.server.url());
    assert_eq!(old.next_report().await, "inside");
    old.pause();
    old.send_go_ahead().await;

    let next = Contender::new(&store, &namespace("web"), 2);
    let held = until("the lease to end", async || {
        let reply = next.claim(Claim::Expired).await.expect("the store answers");
        reply.lease.filter(|_| reply.outcome == Some(Outcome::Applied))
    });
    let epoch = held.await.version.epoch;
    let mut session = Session::open(&fixture.server.url()).await;
    // No lock is waited for longer than a lease: it would be an error.
    let written = soon(async { Some(add_within_a_lease(&mut session, epoch, || {}).await) }).await;
    written.expect("it does not wait for the old leader").expect("nor for longer than a lease");
    assert_eq!(fixture.sql("SELECT n FROM numbers").await, ["1"], "the new leader's alone");

    old.resume();
    let said = old.next_report().await;
    let wanted = "epoch 1 is behind 2, which was admitted to numbers; its term is over (";
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    assert_eq!(fixture.sql("SELECT n FROM numbers").await, ["1"], "nothing of the old leader's");
}

/// The limits of a fenced transaction: no more than a lease, no more than the session's own, and
/// nothing of them is left behind.
#[tokio::test]
async fn the_limits_of_a_fenced_transaction_end_with_it() {
    let fixture = Postgres::start().await;
    drop(fixture.open().await);
    let mut session = Session::open(&fixture.server.url()).await;
    session.run("SET lock_timeout = '1500ms'").await.expect("it can be set");
    let limits = "SELECT current_setting('idle_in_transaction_session_timeout') || ' ' || \
                  current_setting('lock_timeout')";
    let transaction = session.client.transaction().await.expect("it answers");
    let fence = Fence::new("numbers").within(LEASE);
    fence.admit(&transaction, Epoch(1)).await.expect("it is the first");
    let found: String = transaction.query_one(limits, &[]).await.expect("it answers").get(0);
    assert_eq!(found, "4s 1500ms");
    transaction.commit().await.expect("it was admitted");
    assert_eq!(session.run(limits).await.expect("it answers"), ["0 1500ms"]);

    // From any language, without a limit of its own.
    let both = format!("BEGIN; SELECT baton_fence('numbers', 2); {limits}; COMMIT; {limits}");
    let found = session.run(&both).await.expect("2 is later");
    assert_eq!(found[1..], ["15s 1500ms", "0 1500ms"]);
}
