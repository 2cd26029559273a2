//! `[[ttl]]` tables of the file: swept by the leader, through the death of one.

use std::path::Path;
use std::time::Duration;

use baton_drivers::mysql::mysql_async::prelude::Queryable;
use baton_drivers::mysql::mysql_async::{Conn, Opts};
use baton_drivers::postgres::tokio_postgres::{Client, NoTls};
use baton_drivers::redis::client as redis;
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::{Kind, Server};
use rusqlite::Connection;
use rustix::process::Signal;
use tokio::task::JoinSet;

use super::support::{LOOK_EVERY, PATIENCE, Sandbox, lines};

const ROWS: u32 = 3_000;

/// Small batches, so that a leader dies between two of them.
fn config(store: &str) -> String {
    format!(
        "[[ttl]]\nstore = '{store}'\ntable = 'things'\nstrategy = 'archive'\ninto = 'gone'\n\
         every = '20ms'\nbatch = 10\npause = '2ms'\n"
    )
}

fn until(what: &str, mut look: impl FnMut() -> bool) {
    let gives_up_at = SystemClock.now() + PATIENCE;
    while !look() {
        assert!(SystemClock.now() < gives_up_at, "waited in vain for {what}");
        std::thread::park_timeout(LOOK_EVERY);
    }
}

/// Two nodes sweep a backlog, and the first is killed half-way. `put` begins the backlog, `count`
/// tells how many rows are left and how many went.
fn killed_half_way(here: &Sandbox, put: impl FnOnce(), mut count: impl FnMut() -> (u32, u32)) {
    let file = here.path("baton.toml");
    let file = file.to_str().expect("a plain name");
    let a = here.serve("a", &["--config", file]);
    here.until_led_by("a");
    let _b = here.serve("b", &["--config", file]);
    here.until("b is a successor", |status| status["successors"][0] == "b");
    put();
    until("the first batches", || count().1 > 100);
    a.signal(Signal::KILL);
    let (left, _) = count();
    assert!(left > 0, "it was killed too late to show anything");
    until("the backlog to go", || count().0 == 0);
    here.until_led_by("b");
    let told = here.until_written("b.out", |line| line.contains("plugin ttl-1 removed "));
    assert!(told.contains(" expired record"), "{told}");
}

fn open(path: &Path) -> Connection {
    let conn = Connection::open(path).expect("the sandbox can be written to");
    conn.busy_timeout(Duration::from_secs(20)).expect("it is a good timeout");
    conn
}

#[test]
fn on_sqlite_a_killed_coordinator_leaves_each_row_removed_once() {
    let here = Sandbox::new();
    let path = here.path("app.db");
    let conn = open(&path);
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE TABLE things (id INTEGER PRIMARY KEY, expires_at TEXT); \
         CREATE INDEX things_expire ON things (expires_at); \
         CREATE TABLE gone (id INTEGER, expires_at TEXT)",
    )
    .expect("the file is ours");
    here.write("baton.toml", &config(&format!("sqlite://{}", path.display())));
    let number = |sql: &str| -> u32 { conn.query_row(sql, (), |row| row.get(0)).expect("it is") };
    let put = format!(
        "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ROWS}) \
         INSERT INTO things SELECT id, datetime('now', '-1 hour') FROM n"
    );
    killed_half_way(
        &here,
        || conn.execute_batch(&put).expect("the file is ours"),
        || (number("SELECT count(*) FROM things"), number("SELECT count(*) FROM gone")),
    );
    assert_eq!(number("SELECT count(*) FROM gone"), ROWS, "none twice, none lost");
    assert_eq!(number("SELECT count(DISTINCT id) FROM gone"), ROWS);
}

async fn number(client: &Client, sql: &str) -> u32 {
    let row = client.query_one(sql, &[]).await.expect("the server answers");
    u32::try_from(row.get::<_, i64>(0)).expect("it is small")
}

#[test]
fn on_postgres_a_killed_coordinator_leaves_each_row_removed_once() {
    let here = Sandbox::new();
    let runtime = tokio::runtime::Runtime::new().expect("there is room for a runtime");
    let server = runtime.block_on(Server::start(Kind::Postgres)).expect("it can be started");
    let url = server.url();
    let mut reader = JoinSet::new();
    let client = runtime.block_on(async {
        let plain = url.split('?').next().expect("there is a part before it");
        let connected = baton_drivers::postgres::tokio_postgres::connect(plain, NoTls).await;
        let (client, connection) = connected.expect("the server answers");
        reader.spawn(async move { drop(connection.await) });
        let make = "CREATE TABLE things (id bigint PRIMARY KEY, expires_at timestamptz); \
                    CREATE INDEX ON things (expires_at); \
                    CREATE TABLE gone (id bigint, expires_at timestamptz)";
        client.batch_execute(make).await.expect("the database is ours");
        client
    });
    here.write("baton.toml", &config(&url));
    let put = format!(
        "INSERT INTO things SELECT id, now() - interval '1 hour' FROM generate_series(1, {ROWS}) id"
    );
    let ask = |sql: &str| runtime.block_on(number(&client, sql));
    killed_half_way(
        &here,
        || runtime.block_on(client.batch_execute(&put)).expect("the database is ours"),
        || (ask("SELECT count(*) FROM things"), ask("SELECT count(*) FROM gone")),
    );
    assert_eq!(ask("SELECT count(*) FROM gone"), ROWS, "none twice, none lost");
    assert_eq!(ask("SELECT count(DISTINCT id) FROM gone"), ROWS);
}

#[test]
fn on_mariadb_a_killed_coordinator_leaves_each_row_removed_once() {
    let here = Sandbox::new();
    let runtime = tokio::runtime::Runtime::new().expect("there is room for a runtime");
    let server = runtime.block_on(Server::start(Kind::Mariadb)).expect("it can be started");
    let url = server.url();
    let plain = url.split('?').next().expect("there is a part before it");
    let opts = Opts::from_url(plain).expect("it is a URL");
    let mut conn = runtime.block_on(Conn::new(opts)).expect("the server answers");
    for make in [
        "CREATE TABLE things (id BIGINT PRIMARY KEY, expires_at DATETIME(3), KEY (expires_at))",
        "CREATE TABLE gone (id BIGINT, expires_at DATETIME(3))",
    ] {
        runtime.block_on(conn.query_drop(make)).expect("the database is ours");
    }
    here.write("baton.toml", &config(&url));
    let put = format!(
        "INSERT INTO things SELECT seq, UTC_TIMESTAMP(3) - INTERVAL 1 HOUR FROM seq_1_to_{ROWS}"
    );
    let conn = std::cell::RefCell::new(conn);
    let ask = |sql: &str| -> u32 {
        let found = runtime.block_on(conn.borrow_mut().query_first(sql));
        found.expect("the server answers").expect("a count is one row")
    };
    killed_half_way(
        &here,
        || runtime.block_on(conn.borrow_mut().query_drop(&put)).expect("the database is ours"),
        || (ask("SELECT count(*) FROM things"), ask("SELECT count(*) FROM gone")),
    );
    assert_eq!(ask("SELECT count(*) FROM gone"), ROWS, "none twice, none lost");
    assert_eq!(ask("SELECT count(DISTINCT id) FROM gone"), ROWS);
}

#[test]
fn on_redis_a_killed_coordinator_leaves_each_key_removed_once() {
    let here = Sandbox::new();
    let runtime = tokio::runtime::Runtime::new().expect("there is room for a runtime");
    let server = runtime.block_on(Server::start(Kind::Redis)).expect("it can be started");
    let url = server.url();
    let client = redis::Client::open(url.as_str()).expect("it is a URL");
    let conn = std::cell::RefCell::new(client.get_connection().expect("the server answers"));
    let plan = "strategy = 'archive'\ninto = 'gone:'\nevery = '20ms'\nbatch = 10\npause = '2ms'\n";
    here.write("baton.toml", &format!("[[ttl]]\nstore = '{url}'\nindex = 'things'\n{plan}"));
    let put = || {
        let mut backlog = redis::pipe();
        for id in 1..=ROWS {
            backlog.set(format!("thing:{id}"), id).ignore();
            backlog.zadd("things", format!("thing:{id}"), 1_000 + id).ignore();
        }
        backlog.atomic().exec(&mut conn.borrow_mut()).expect("the server is ours");
    };
    let ask = |script: &str| -> u32 {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(0).query(&mut conn.borrow_mut()).expect("the server answers")
    };
    let left = "return redis.call('ZCARD', 'things')";
    let gone = "return #redis.call('KEYS', 'gone:*')";
    killed_half_way(&here, put, || (ask(left), ask(gone)));
    assert_eq!(ask(gone), ROWS, "none lost");
    assert_eq!(ask("return #redis.call('KEYS', 'thing:*')"), 0, "none left");
}

#[test]
fn what_cannot_be_swept_is_refused_at_the_start_or_told_by_name() {
    let here = Sandbox::new();
    let cases = [
        ("tabel = 't'", "unknown setting tabel in [[ttl]] 1; did you mean table?"),
        ("table = 'a b'", "[[ttl]] 1: table name \"a b\" must be 1 to 63 letters"),
        ("index = 'x'", "[[ttl]] 1: sqlite:// holds tables, and an index of keys was given"),
        ("table = 't'\nstore = 'nowhere'", "[[ttl]] 1: the store's URL has no scheme"),
    ];
    for (line, expected) in cases {
        here.write("baton.toml", &format!("[[ttl]]\n{line}\n"));
        here.baton(&["serve", "--config", "baton.toml"]).assert_refused(2, expected);
    }
    let wanted = "--forget-dead-after: forget_dead_after is 5s; give at least 60s";
    here.baton(&["serve", "--forget-dead-after", "5s"]).assert_refused(2, wanted);
    open(&here.path("app.db")).execute_batch("CREATE TABLE other (id)").expect("it is ours");
    here.write("baton.toml", &config("sqlite://app.db"));
    let _a = here.serve("a", &["--config", "baton.toml"]);
    let wanted = "sqlite table things cannot be swept: there is no table things";
    let out = here.path("a.out");
    until("the failure", || lines(&out).iter().any(|line| line.contains(wanted)));
    let status = here.until_led_by("a");
    assert_eq!(status["epoch"], 1, "no reason for another leader");
}
