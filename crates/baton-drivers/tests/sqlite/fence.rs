//! Fenced writes to a database of the user's own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Outcome};
use baton_drivers::sqlite::fence::{Fence, FenceError};
use baton_drivers::sqlite::rusqlite::Connection;
use baton_store::Store;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::paused::{self, PausedLeader};
use baton_testbed::wait::until;
use tokio::task::JoinSet;

use crate::file::File;

const LATE: &str = "epoch 1 is behind 2, which was admitted to counter; its term is over (";

/// The user's own database, beside baton's.
fn connect(folder: &Path) -> Connection {
    let conn = Connection::open(folder.join("app.db")).expect("the folder is ours");
    conn.busy_timeout(Duration::from_secs(20)).expect("it is a good timeout");
    conn
}

fn prepare(folder: &Path) -> Connection {
    let conn = connect(folder);
    let make =
        "CREATE TABLE counter (number INTEGER, who TEXT); INSERT INTO counter VALUES (0, '')";
    conn.execute_batch(make).expect("the file is ours");
    conn
}

/// Adds one to the counter and says who did, all under the fence.
fn write(conn: &mut Connection, epoch: Epoch, who: &str) -> Result<(), FenceError> {
    write_while(conn, epoch, who, || {})
}

/// The same; `meanwhile` runs when all is written but the commit.
fn write_while(
    conn: &mut Connection,
    epoch: Epoch,
    who: &str,
    meanwhile: impl FnOnce(),
) -> Result<(), FenceError> {
    let add = "UPDATE counter SET number = number + 1, who = ?1";
    Fence::new("counter").write(conn, epoch, |work| {
        work.execute(add, [who])?;
        meanwhile();
        Ok(())
    })
}

fn stands(conn: &Connection) -> (i64, String) {
    let row =
        conn.query_row("SELECT number, who FROM counter", (), |row| Ok((row.get(0)?, row.get(1)?)));
    row.expect("there is one row")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let file = File::new();
    let mut conn = prepare(file.folder());
    let mut writers = JoinSet::new();
    for _ in 0..4 {
        let mut own = connect(file.folder());
        writers.spawn_blocking(move || {
            for _ in 0..10 {
                write(&mut own, Epoch(1), "one").expect("epoch 1 is the highest");
            }
        });
    }
    writers.join_all().await;
    assert_eq!(stands(&conn), (40, "one".to_owned()));

    for epoch in [2, 2] {
        write(&mut conn, Epoch(epoch), "two").expect("epoch 2 is the highest");
    }
    let late = write(&mut conn, Epoch(1), "late").expect_err("it came too late");
    assert!(matches!(late, FenceError::StaleEpoch(_)), "{late:?}");
    assert!(late.to_string().starts_with(LATE), "{late}");
    assert_eq!(stands(&conn), (42, "two".to_owned()));

    // The highest number is a number, and another resource has a fence of its own.
    let beyond = write(&mut conn, Epoch(u64::MAX), "forged").expect_err("no term has it");
    assert!(matches!(beyond, FenceError::TooHigh(_)), "{beyond:?}");
    write(&mut conn, Epoch(3), "three").expect("the fence was not raised");
    write(&mut conn, Epoch::MAX, "last").expect("nothing is higher");
    assert!(write(&mut conn, Epoch(Epoch::MAX.0 - 1), "late").is_err());
    let transaction = conn.transaction().expect("no other connection writes");
    Fence::new("other").admit(&transaction, Epoch(1)).expect("no holder was there");
}

async fn contender(folder: &Path, boot: u128) -> Contender {
    let url = format!("sqlite://{}", folder.join("baton.db").display());
    let store: Arc<dyn Store> = baton_drivers::open(&url).await.expect("the file can be opened");
    Contender::new(&store, &namespace("web"), boot)
}

/// The old leader: takes the lease, and writes when it is told to.
async fn lead(folder: &Path) {
    let mut node = contender(folder, 1).await;
    node.ttl = Duration::from_millis(300);
    let held = node.take(Claim::Vacant).await;
    let mut conn = connect(folder);
    paused::report(&format!("epoch {}", held.epoch));
    paused::wait_for_go_ahead();
    let written = write(&mut conn, held.epoch, "old");
    paused::report(&written.map_or_else(|refused| refused.to_string(), |()| "written".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_writes_nothing() {
    if let Some(folder) = paused::orders_if_asked() {
        return lead(Path::new(&folder)).await;
    }
    let file = File::new();
    let mut conn = prepare(file.folder());
    let folder = file.folder().display().to_string();
    let mut old = PausedLeader::start("fence::a_leader_that_was_paused_writes_nothing", &folder);
    assert_eq!(old.next_report().await, "epoch 1");
    old.pause();
    old.send_go_ahead().await;

    let next = contender(file.folder(), 2).await;
    let held = until("the lease to end", async || {
        let reply = next.claim(Claim::Expired).await.expect("the store answers");
        reply.lease.filter(|_| reply.outcome == Some(Outcome::Applied))
    });
    let held = held.await.version;
    assert_eq!(held.epoch, Epoch(2));
    write(&mut conn, held.epoch, "new").expect("epoch 2 is the highest");

    old.resume();
    let said = old.next_report().await;
    assert!(said.starts_with(LATE), "{said}");
    assert!(old.ended_well().await);
    assert_eq!(stands(&conn), (1, "new".to_owned()));
}

/// What no timeout can end: a process that is stopped between BEGIN and COMMIT holds up the others.
/// They give up with nothing written, and write once it went on; what it wrote was before them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_stopped_inside_its_transaction_holds_up_the_next_until_it_goes_on() {
    if let Some(folder) = paused::orders_if_asked() {
        let inside = || {
            paused::report("inside");
            paused::wait_for_go_ahead();
        };
        let mut conn = connect(Path::new(&folder));
        write_while(&mut conn, Epoch(1), "old", inside).expect("no other process could write");
        return;
    }
    let file = File::new();
    let mut conn = prepare(file.folder());
    let folder = file.folder().display().to_string();
    let test = "fence::\
                a_leader_stopped_inside_its_transaction_holds_up_the_next_until_it_goes_on";
    let mut old = PausedLeader::start(test, &folder);
    assert_eq!(old.next_report().await, "inside");
    old.pause();
    old.send_go_ahead().await;

    conn.busy_timeout(Duration::from_millis(200)).expect("it is a good timeout");
    let held_up = write(&mut conn, Epoch(2), "new").expect_err("the file is locked");
    assert!(matches!(held_up, FenceError::Store(_)), "{held_up:?}");
    assert_eq!(stands(&conn), (0, String::new()), "nothing was written");

    old.resume();
    assert!(old.ended_well().await);
    write(&mut conn, Epoch(2), "new").expect("the file is free");
    assert_eq!(stands(&conn), (2, "new".to_owned()));
    write(&mut conn, Epoch(1), "old").expect_err("2 was here");
}
