//! Fenced writes to the user's own tables.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome};
use baton_drivers::mysql::fence::{Fence, FenceError};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::wait::{soon, until};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, TxOpts};
use tokio::task::JoinSet;

use crate::fixture::{MysqlFixture, contender, is_by_oracle};

/// The lease, and so the bound of a fenced transaction.
const LEASE: Duration = Duration::from_secs(4);

async fn connect(url: &str) -> Conn {
    let options = Opts::from_url(url).expect("the testbed's URLs are sound");
    Conn::new(OptsBuilder::from_opts(options).prefer_socket(false)).await.expect("it answers")
}

/// Adds one to the counter and says who did, all under the fence.
async fn write(conn: &mut Conn, epoch: Epoch, who: &str) -> Result<(), FenceError> {
    write_while(conn, epoch, who, || {}).await
}

/// The same; `meanwhile` runs when all is written but the commit.
async fn write_while(
    conn: &mut Conn,
    epoch: Epoch,
    who: &str,
    meanwhile: impl FnOnce(),
) -> Result<(), FenceError> {
    let fence = Fence::new("counter").with_prefix("app_")?.within(LEASE);
    let mut work = conn.start_transaction(TxOpts::default()).await?;
    fence.admit(&mut work, epoch).await?;
    work.exec_drop("UPDATE app_counter SET number = number + 1, who = ?", (who,)).await?;
    meanwhile();
    Ok(work.commit().await?)
}

async fn prepare(fixture: &MysqlFixture) -> Conn {
    let mut conn = fixture.connect().await;
    let fence = Fence::new("counter").with_prefix("app_").expect("a good prefix");
    fence.create(&mut conn).await.expect("it may");
    let make = "CREATE TABLE app_counter (number INT NOT NULL, who VARCHAR(40)) ENGINE = InnoDB";
    conn.query_drop("DROP TABLE IF EXISTS app_counter").await.expect("it may");
    conn.query_drop("DELETE FROM app_fences").await.expect("it may");
    conn.query_drop(make).await.expect("it may");
    conn.query_drop("INSERT INTO app_counter VALUES (0, NULL)").await.expect("it may");
    conn
}

/// The old leader: takes the lease, and writes when it is told to.
async fn lead(url: &str) {
    let mut conn = connect(url).await;
    let held = contender(url, "fenced", 1).await.take(Claim::Vacant).await;
    paused::report(&format!("epoch {}", held.epoch));
    paused::wait_for_go_ahead();
    let written = write(&mut conn, held.epoch, "old").await;
    paused::report(&written.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let fixture = MysqlFixture::start().await;
    let mut conn = prepare(&fixture).await;
    let mut writers = JoinSet::new();
    for number in 1..=8_u64 {
        let mut own = fixture.connect_with(|it| it.client_found_rows(number % 2 == 0)).await;
        writers.spawn(async move {
            let mut admitted = 0_u64;
            for _ in 0..20 {
                match write(&mut own, Epoch(5), "five").await {
                    Ok(()) => admitted += 1,
                    Err(error) => unreachable!("the present epoch was refused: {error}"),
                }
            }
            admitted
        });
    }
    let admitted: u64 = writers.join_all().await.into_iter().sum();
    let count = async |conn: &mut Conn| conn.query_first("SELECT number FROM app_counter").await;
    assert_eq!(count(&mut conn).await.expect("it may"), Some(admitted));

    for found_rows in [false, true] {
        let mut conn = fixture.connect_with(|it| it.client_found_rows(found_rows)).await;
        write(&mut conn, Epoch(6), "six").await.expect("a later epoch is admitted");
        write(&mut conn, Epoch(6), "six").await.expect("and again");
        let late = write(&mut conn, Epoch(5), "five").await.expect_err("it came too late");
        let wanted = "epoch 5 is behind 6, which was admitted to counter; its term is over (";
        assert!(late.to_string().starts_with(wanted), "{late}, found rows: {found_rows}");
    }
    assert_eq!(count(&mut conn).await.expect("it may"), Some(admitted + 4));
    assert!(matches!(Fence::new("counter").with_prefix("a-b"), Err(FenceError::Name { .. })));
}

/// The old leader is stopped before its write, another takes over and writes, the old one goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_writes_nothing() {
    if let Some(url) = paused::orders_if_asked() {
        return lead(&url).await;
    }
    let fixture = MysqlFixture::start().await;
    let mut conn = prepare(&fixture).await;
    let test = "fence::a_leader_that_was_paused_writes_nothing";
    let mut old = PausedLeader::start(test, &fixture.server.url());
    assert_eq!(old.next_report().await, "epoch 1");
    old.pause();
    old.send_go_ahead().await;

    let next = contender(&fixture.server.url(), "fenced", 2).await;
    let held = next.take(Claim::Dead { boot: baton_core::ids::BootId(1) }).await;
    assert_eq!(held.epoch, Epoch(2));
    write(&mut conn, held.epoch, "new").await.expect("the present epoch is admitted");
    old.resume();
    let wanted = "epoch 1 is behind 2, which was admitted to counter; its term is over (";
    let said = old.next_report().await;
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    let stands: Option<(u64, String)> =
        conn.query_first("SELECT number, who FROM app_counter").await.expect("it may");
    assert_eq!(stands, Some((1, "new".to_owned())));
}

/// The old leader: is stopped in its transaction, and tries again when that has failed.
async fn lead_and_stop_inside(url: &str) {
    let held = contender(url, "fenced", 1).await.with_ttl(LEASE).take(Claim::Vacant).await;
    let mut conn = connect(url).await;
    let written = write_while(&mut conn, held.epoch, "old", || {
        paused::report("inside");
        paused::wait_for_go_ahead();
    });
    assert!(matches!(written.await, Err(FenceError::Store(_))), "the server has ended it");
    let again = write(&mut connect(url).await, held.epoch, "old").await;
    paused::report(&again.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_stopped_inside_its_transaction_holds_up_the_next_for_a_lease_at_most() {
    if let Some(url) = paused::orders_if_asked() {
        return lead_and_stop_inside(&url).await;
    }
    let fixture = MysqlFixture::start().await;
    let mut conn = prepare(&fixture).await;
    let test = "fence::\
                a_leader_stopped_inside_its_transaction_holds_up_the_next_for_a_lease_at_most";
    let mut old = PausedLeader::start(test, &fixture.server.url());
    assert_eq!(old.next_report().await, "inside");
    old.pause();
    old.send_go_ahead().await;

    let next = contender(&fixture.server.url(), "fenced", 2).await;
    let held = until("the lease to end", async || {
        let reply = next.claim(Claim::Expired).await.expect("the store answers");
        reply.lease.filter(|_| reply.outcome == Some(Outcome::Applied))
    });
    let epoch = held.await.version.epoch;
    // No lock is waited for longer than a lease: it would be an error.
    let written = soon(async { Some(write(&mut conn, epoch, "new").await) }).await;
    written.expect("it does not wait for the old leader").expect("nor for longer than a lease");

    old.resume();
    let said = old.next_report().await;
    let wanted = "epoch 1 is behind 2, which was admitted to counter; its term is over (";
    assert!(said.starts_with(wanted), "{said}");
    assert!(old.ended_well().await);
    let mut conn = fixture.connect().await;
    let stands: Option<(u64, String)> =
        conn.query_first("SELECT number, who FROM app_counter").await.expect("it may");
    assert_eq!(stands, Some((1, "new".to_owned())));
}

/// No more than a lease, and no more than what the session had.
#[tokio::test]
async fn a_fenced_session_has_limits() {
    let fixture = MysqlFixture::start().await;
    let mut conn = prepare(&fixture).await;
    let idle = if is_by_oracle() { "wait_timeout" } else { "idle_transaction_timeout" };
    conn.query_drop("SET SESSION innodb_lock_wait_timeout = 2").await.expect("it can be set");
    write(&mut conn, Epoch(1), "one").await.expect("it is the first");
    let limits = format!("SELECT @@SESSION.{idle}, @@SESSION.innodb_lock_wait_timeout");
    let found: Option<(u64, u64)> = conn.query_first(&limits).await.expect("it answers");
    assert_eq!(found, Some((4, 2)));
    let bound = Fence::new("counter").within(Duration::from_secs(3600)).bound_statement();
    conn.query_drop(bound).await.expect("any client may");
    let found: Option<(u64, u64)> = conn.query_first(&limits).await.expect("it answers");
    assert_eq!(found, Some((4, 2)), "it is not raised");
}
