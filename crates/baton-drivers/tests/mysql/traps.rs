//! Traps of MySQL, each first shown to bite the plain statement, then not this store.

use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{Epoch, NodeId};
use baton_core::protocol::{Claim, Outcome};
use baton_drivers::mysql::fence::Fence;
use baton_store::clock::{Clock, SystemClock};
use baton_store::{Store, StoreError};
use baton_testbed::contender::{Contender, left, namespace};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, TxOpts};

use crate::fixture::{MysqlFixture, contender};

struct Scene {
    fixture: MysqlFixture,
    store: Arc<dyn Store>,
    conn: Conn,
}

impl Scene {
    async fn set() -> Self {
        let fixture = MysqlFixture::start().await.prepare_zone().await;
        let url = format!("{}?table_prefix=helix_", fixture.server.url());
        let store = baton_drivers::open(&url).await.expect("it can be opened");
        let mut conn = fixture.connect().await;
        for text in [
            "DROP TABLE IF EXISTS plain_locks",
            "CREATE TABLE plain_locks (lock_key VARCHAR(99) PRIMARY KEY, owner_id VARCHAR(99), \
             expires_at DATETIME(6), epoch BIGINT)",
        ] {
            conn.query_drop(text).await.expect("it may");
        }
        Self { fixture, store, conn }
    }

    fn peer(&self, space: &str, name: &str, boot: u128) -> Contender {
        let mut peer = Contender::new(&self.store, &namespace(space), boot);
        peer.record.id = NodeId::new(name).expect("tests name well");
        peer
    }

    async fn run(&mut self, text: &str) -> u64 {
        self.conn.query_drop(text).await.expect("it may");
        self.conn.affected_rows()
    }

    async fn text(&mut self, text: &str) -> String {
        self.conn.query_first::<String, _>(text).await.expect("it may").expect("there is one")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_bites_the_plain_statements_does_not_bite_this_store() {
    let mut scene = Scene::set().await;
    a_later_expiry_steals_a_live_lease(&mut scene).await;
    an_update_reads_what_it_has_just_set(&mut scene).await;
    now_follows_the_session(&mut scene).await;
    affected_rows_mean_what_the_client_chose(&mut scene).await;
    a_statement_reads_the_clock_before_it_waits(&mut scene).await;
    a_lock_wait_timeout_rolls_nothing_back(&mut scene).await;
    a_lock_on_the_lease_holds_renewals_up(&mut scene).await;
    // The table is called and looks as the seed's, so that its tools find what they know.
    let columns = "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM \
                   information_schema.columns WHERE table_schema = DATABASE() AND table_name = \
                   'helix_locks' AND ordinal_position <= 7";
    let wanted = "lock_key,owner_id,expires_at,epoch,status,created_at,updated_at";
    assert_eq!(scene.text(columns).await, wanted);
    let unique = "SELECT GROUP_CONCAT(column_name ORDER BY seq_in_index) FROM \
                  information_schema.statistics WHERE table_schema = DATABASE() AND table_name = \
                  'helix_locks' AND index_name = 'lock_key_status' AND non_unique = 0";
    assert_eq!(scene.text(unique).await, "lock_key,status");
}

/// The seed compares the stored expiry with the one that the newcomer would like to have.
async fn a_later_expiry_steals_a_live_lease(scene: &mut Scene) {
    for (owner, seconds) in [("a", 10), ("b", 11)] {
        let text = format!(
            "INSERT INTO plain_locks VALUES ('steal', '{owner}', UTC_TIMESTAMP(6) + INTERVAL \
             {seconds} SECOND, 1) ON DUPLICATE KEY UPDATE owner_id = IF(expires_at < \
             VALUES(expires_at), VALUES(owner_id), owner_id)"
        );
        scene.run(&text).await;
    }
    let stolen = "SELECT owner_id FROM plain_locks WHERE lock_key = 'steal'";
    assert_eq!(scene.text(stolen).await, "b", "the trap does not bite");

    let (a, mut b) = (scene.peer("steal", "a", 1), scene.peer("steal", "b", 2));
    let held = a.take(Claim::Vacant).await;
    b.ttl = a.ttl * 10;
    let reply = b.claim(Claim::Expired).await.expect("the server answers");
    assert_eq!(reply.outcome, Some(Outcome::Conflict));
    assert_eq!(reply.lease.map(|lease| lease.version), Some(held));
}

/// Assignments are made from left to right, and each sees the ones before it.
async fn an_update_reads_what_it_has_just_set(scene: &mut Scene) {
    scene
        .run(
            "INSERT INTO plain_locks \
             VALUES ('order', 'a', UTC_TIMESTAMP(6) - INTERVAL 1 SECOND, 1)",
        )
        .await;
    scene
        .run(
            "UPDATE plain_locks SET \
             expires_at = IF(expires_at < UTC_TIMESTAMP(6), \
             UTC_TIMESTAMP(6) + INTERVAL 60 SECOND, expires_at), \
             owner_id = IF(expires_at < UTC_TIMESTAMP(6), 'b', owner_id) WHERE lock_key = 'order'",
        )
        .await;
    let extended = "SELECT CONCAT(owner_id, expires_at > UTC_TIMESTAMP(6)) FROM plain_locks \
                    WHERE lock_key = 'order'";
    assert_eq!(scene.text(extended).await, "a1", "the trap does not bite");

    let (mut a, b) = (scene.peer("order", "a", 1), scene.peer("order", "b", 2));
    a.ttl = Duration::from_millis(50);
    a.take(Claim::Vacant).await;
    while left(&b.look().await) > Duration::ZERO {}
    b.take(Claim::Expired).await;
    let owner = "SELECT CONCAT(owner_id, epoch, expires_at > UTC_TIMESTAMP(6)) FROM helix_locks \
                 WHERE lock_key = 'order'";
    assert_eq!(scene.text(owner).await, "b21");
}

/// What one session wrote for a minute is long over in another.
async fn now_follows_the_session(scene: &mut Scene) {
    scene.run("SET time_zone = '+00:00'").await;
    scene.run("INSERT INTO plain_locks VALUES ('zone', 'a', NOW(6) + INTERVAL 60 SECOND, 1)").await;
    scene.run("SET time_zone = '+02:00'").await;
    let over = "SELECT expires_at < NOW(6) FROM plain_locks WHERE lock_key = 'zone'";
    assert_eq!(scene.text(over).await, "1", "the trap does not bite");

    let utc = scene.peer("zone", "utc", 1);
    utc.take(Claim::Vacant).await;
    let address = scene.fixture.server.address();
    let east = format!("mysql://east@{address}/baton?table_prefix=helix_");
    let east = contender(&east, "zone", 2).await;
    let reply = east.claim(Claim::Expired).await.expect("the server answers");
    assert_eq!(reply.outcome, Some(Outcome::Conflict));
    assert!(left(&reply) <= utc.ttl && left(&reply) > utc.ttl / 2, "{reply:?}");
}

/// One row affected by an upsert means "inserted", or, to a client that counts found rows, "lost".
async fn affected_rows_mean_what_the_client_chose(scene: &mut Scene) {
    scene.run("INSERT INTO plain_locks VALUES ('rows', 'a', UTC_TIMESTAMP(6), 1)").await;
    let lose = "INSERT INTO plain_locks VALUES ('rows', 'b', UTC_TIMESTAMP(6), 1) \
                ON DUPLICATE KEY UPDATE owner_id = owner_id";
    let mut affected = Vec::new();
    for found_rows in [false, true] {
        let mut conn = scene.fixture.connect_with(|it| it.client_found_rows(found_rows)).await;
        conn.query_drop(lose).await.expect("it may");
        affected.push(conn.affected_rows());
    }
    assert_eq!(affected, [0, 1], "the trap does not bite");

    // The procedures answer the same to both, in a session that is unlike ours in every way.
    let peer = scene.peer("rows", "a", 1);
    peer.take(Claim::Vacant).await;
    for found_rows in [false, true] {
        let mut conn = scene.fixture.connect_with(|it| it.client_found_rows(found_rows)).await;
        conn.query_drop("SET SESSION sql_mode = 'ANSI', autocommit = 0").await.expect("it may");
        conn.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .await
            .expect("it may");
        for (epoch, applied) in [(1, 1), (1, 1), (2, 0)] {
            let ask = format!("CALL helix_ask(_ascii 'rows', 0, {epoch}, _utf8mb4 'null')");
            let said: Option<(u64, u64)> = conn.query_first(ask).await.expect("it may");
            assert_eq!(said.map(|said| said.1), Some(applied), "found rows: {found_rows}");
        }
    }
}

/// The time in a statement is that of its start, however long it then waits for a lock.
async fn a_statement_reads_the_clock_before_it_waits(scene: &mut Scene) {
    const WAIT: Duration = Duration::from_millis(500);
    let peer = scene.peer("clock", "a", 1).with_ttl(Duration::from_secs(5));
    let held = peer.take(Claim::Vacant).await;
    scene.run("INSERT INTO plain_locks VALUES ('clock', 'a', UTC_TIMESTAMP(6), 1)").await;

    let lock =
        |table: &str, key: &str| format!("SELECT * FROM {table} WHERE {key} = 'clock' FOR UPDATE");
    let mut other = scene.fixture.connect().await;
    other.query_drop("START TRANSACTION").await.expect("it may");
    other.query_drop(lock("plain_locks", "lock_key")).await.expect("it may");
    other.query_drop(lock("helix_namespaces", "namespace")).await.expect("it may");
    let mut plain = scene.fixture.connect().await;
    let waits = tokio::join!(
        plain.query_drop(
            "UPDATE plain_locks SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND \
             WHERE lock_key = 'clock'"
        ),
        peer.renew(held),
        async {
            scene.fixture.until_a_statement_waits().await;
            SystemClock.sleep(WAIT).await;
            other.query_drop("COMMIT").await
        }
    );
    let (updated, renewed, committed) = waits;
    assert!(updated.is_ok() && committed.is_ok());
    let plain_left = "SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires_at) \
                      FROM plain_locks WHERE lock_key = 'clock'";
    let plain_left: u64 = scene.text(plain_left).await.parse().expect("it is a number");
    let full = peer.ttl;
    assert!(Duration::from_micros(plain_left) < full - WAIT, "the trap does not bite");
    let renewed = renewed.expect("the lock was free in time");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
    assert!(left(&renewed) > full - WAIT / 2, "{:?} of {full:?} are left", left(&renewed));
}

/// A statement that waited too long is undone, and what its transaction did before it is not.
async fn a_lock_wait_timeout_rolls_nothing_back(scene: &mut Scene) {
    let peer = scene.peer("wait", "a", 1);
    let held = peer.take(Claim::Vacant).await;
    scene.run("INSERT INTO plain_locks VALUES ('wait', 'a', UTC_TIMESTAMP(6), 1)").await;
    let mut other = scene.fixture.connect().await;
    for text in [
        "START TRANSACTION",
        "SELECT * FROM plain_locks WHERE lock_key = 'wait' FOR UPDATE",
        "SELECT * FROM helix_locks WHERE lock_key = 'wait' FOR UPDATE",
    ] {
        other.query_drop(text).await.expect("it may");
    }
    let mut plain = scene.fixture.connect().await;
    for text in [
        "SET SESSION innodb_lock_wait_timeout = 1",
        "START TRANSACTION",
        "INSERT INTO plain_locks VALUES ('wait-half', 'a', UTC_TIMESTAMP(6), 1)",
    ] {
        plain.query_drop(text).await.expect("it may");
    }
    let timed_out = plain.query_drop("UPDATE plain_locks SET epoch = 2 WHERE lock_key = 'wait'");
    assert!(timed_out.await.is_err());
    plain.query_drop("COMMIT").await.expect("it may");
    let half = "SELECT lock_key FROM plain_locks WHERE lock_key = 'wait-half'";
    assert_eq!(scene.text(half).await, "wait-half", "the trap does not bite");

    // The node's record is written before the lease is waited for.
    let before = peer.last_beat();
    let refused = peer.renew(held).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    let members = peer.store.members(&peer.namespace).await.expect("the server answers");
    assert_eq!(members[0].record.beat, before, "half of a beat was written");
    other.query_drop("COMMIT").await.expect("it may");
    let renewed = peer.renew(held).await.expect("the lock is free");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
}

/// A fence that reads the lease's row under a lock keeps the holder from renewing it.
async fn a_lock_on_the_lease_holds_renewals_up(scene: &mut Scene) {
    let peer = scene.peer("fence", "a", 1);
    let held = peer.take(Claim::Vacant).await;
    let mut user = scene.fixture.connect().await;
    let mut work = user.start_transaction(TxOpts::default()).await.expect("it may");
    let lock = "SELECT epoch FROM helix_locks WHERE lock_key = 'fence' FOR UPDATE";
    work.query_drop(lock).await.expect("it may");
    let refused = peer.renew(held).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "the trap does not bite");
    work.rollback().await.expect("it may");

    let fence = Fence::new("invoices").with_prefix("helix_").expect("a good prefix");
    fence.create(&mut user).await.expect("it may");
    let mut work = user.start_transaction(TxOpts::default()).await.expect("it may");
    fence.admit(&mut work, held.epoch).await.expect("it is the first");
    let renewed = peer.renew(held).await.expect("no lock is in the way");
    assert_eq!(renewed.outcome, Some(Outcome::Applied));
    work.commit().await.expect("it may");
    assert_eq!(held.epoch, Epoch(1));
}
