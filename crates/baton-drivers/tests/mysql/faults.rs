//! The server goes away in every way it can, and the same handle goes on when it is back.

use std::time::Duration;

use baton_core::protocol::{Claim, Failure, Outcome};
use baton_store::StoreError;
use baton_testbed::proxy::{ConnectionFault, Proxy};
use baton_testbed::wait::until;

use crate::fixture::{MysqlFixture, contender};

/// What the test's URL allows a call: more than a busy machine needs for one.
const TIMEOUT: Duration = Duration::from_secs(2);

fn url(fixture: &MysqlFixture, proxy: &Proxy) -> String {
    let url = fixture.server.url_at(proxy.address());
    format!("{url}?timeout_ms={}", TIMEOUT.as_millis())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_or_paused_costs_nothing_but_time() {
    let fixture = MysqlFixture::start_with(&[]).await;
    let server = &fixture.server;
    let url = format!("{}?timeout_ms={}", server.url(), TIMEOUT.as_millis());
    let peer = contender(&url, "lives", 1).await;
    let held = peer.take(Claim::Vacant).await;

    server.kill().await.expect("it is ours");
    // A request that meets the end of the connection is unknown; the next one is not even sent.
    until("no server is there to send it to", async || {
        let gone = peer.renew(held).await.expect_err("no server is there");
        (gone.failure() == Failure::NotDone).then_some(())
    })
    .await;
    server.start_again().await.expect("it comes back");
    let reply = until("it is back", async || peer.renew(held).await.ok()).await;
    assert_eq!(reply.outcome, Some(Outcome::Applied));
    let held = reply.lease.expect("it is held").version;

    server.pause().expect("it is ours");
    let late = peer.renew(held).await.expect_err("it is paused");
    assert_eq!(late.failure(), Failure::Unknown, "{late}");
    // A second connection is not had either: certainly nothing was sent.
    let late = peer.try_look().await.expect_err("it is paused");
    assert_eq!(late.failure(), Failure::NotDone, "{late}");
    server.resume().expect("it is ours");
    let lease = peer.look_until_answered().await.lease.expect("it is held");
    assert!(lease.is_held_by(peer.record.boot));

    // Sessions that are killed one by one are noticed before anything is said to them.
    let sessions = "SELECT id FROM information_schema.processlist WHERE command = 'Sleep'";
    for row in fixture.sql(sessions).await {
        let id: u64 = row.get(0).expect("it has a number");
        fixture.try_sql(&format!("KILL {id}")).await;
    }
    peer.look_until_answered().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_on_the_way_is_told_for_what_it_is() {
    let fixture = MysqlFixture::start().await;
    let proxy = Proxy::to(fixture.server.address()).await;
    let peer = contender(&url(&fixture, &proxy), "way", 1).await;
    let mut held = peer.take(Claim::Vacant).await;

    // Done, and not told: the nonce tells.
    proxy.set(ConnectionFault::LoseReplies);
    let lost = peer.renew(held).await.expect_err("the reply was lost");
    assert_eq!(lost.failure(), Failure::Unknown, "{lost}");
    let nonce = peer.last_nonce();
    let lease = peer.look_until_answered().await.lease.expect("it is held");
    assert_eq!(lease.version.nonce, nonce, "the renewal took place");
    held = lease.version;

    // Half open: the request arrives, and one timeout is all it costs.
    proxy.set(ConnectionFault::HalfOpen);
    let lost = peer.renew(held).await.expect_err("nothing comes back");
    assert_eq!(lost.failure(), Failure::Unknown, "{lost}");
    proxy.set(ConnectionFault::None);
    let lease = peer.look_until_answered().await.lease;
    held = lease.expect("it is held").version;

    // Cut, and refused.
    proxy.cut();
    peer.look_until_answered().await;
    proxy.set(ConnectionFault::Refuse);
    // The connection that was there when it began may still carry something: a look, which leaves
    // the lease alone.
    until("the kept connection to be gone", async || {
        let refused = peer.try_look().await.err()?;
        (refused.failure() == Failure::NotDone).then_some(())
    })
    .await;
    let refused = peer.renew(held).await.expect_err("no connection gets through");
    assert_eq!(refused.failure(), Failure::NotDone, "{refused}");
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
    proxy.set(ConnectionFault::None);
    let lease = peer.look_until_answered().await.lease.expect("it is held");
    assert_eq!(lease.version, held, "nothing was written meanwhile");
}

/// A statement that is killed in the middle leaves nothing locked behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_statement_leaves_nothing_behind() {
    use mysql_async::prelude::Queryable;
    let fixture = MysqlFixture::start().await;
    let peer = contender(&fixture.server.url(), "killed", 1).await;
    let held = peer.take(Claim::Vacant).await;
    let mut other = fixture.connect().await;
    other.query_drop("START TRANSACTION").await.expect("it may");
    let lock = "SELECT * FROM baton_locks WHERE lock_key = 'killed' FOR UPDATE";
    other.query_drop(lock).await.expect("it may");
    let waiting = "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx \
                   WHERE trx_state = 'LOCK WAIT'";
    let (renewed, ()) = tokio::join!(peer.renew(held), async {
        fixture.until_a_statement_waits().await;
        let id = fixture.value(waiting).await.expect("a session waits");
        fixture.sql(&format!("KILL QUERY {id}")).await;
    });
    let killed = renewed.expect_err("it was killed");
    assert_eq!(killed.failure(), Failure::Unknown, "{killed}");
    other.query_drop("COMMIT").await.expect("it may");
    let reply = peer.renew(held).await.expect("nothing is locked");
    assert_eq!(reply.outcome, Some(Outcome::Applied));
}

/// A failover: the server turns read-only, and the next host in the list takes the writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_turns_read_only_is_left_for_the_next() {
    let old = MysqlFixture::start_with(&["--server-id=11"]).await.prepare_zone().await;
    let new = MysqlFixture::start_with(&["--server-id=12"]).await.prepare_zone().await;
    drop(baton_drivers::open(&new.server.url()).await.expect("it can be opened"));
    let (first, second) = (old.server.address(), new.server.address());
    let url = format!("mysql://east@{first},{second}/baton");
    let peer = contender(&url, "failover", 1).await;
    let before = peer.look().await.lineage;
    old.sql("SET GLOBAL read_only = 1").await;
    let refused = peer.try_look().await.expect_err("it takes no writes");
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
    let after = peer.look().await.lineage;
    assert!(after > before, "another server's data is another lineage");
}
