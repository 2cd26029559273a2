//! The two stores that the tasks are done on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_drivers::postgres::tokio_postgres::{self, Client, NoTls};
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::{Kind, Options, Server};
use rusqlite::Connection;
use tokio::task::JoinSet;

/// Which store.
#[derive(Clone, Copy)]
pub enum On {
    Postgres,
    Embedded,
}

/// A store, and the user's tables.
pub enum Fixture {
    Postgres(Box<Server>),
    Embedded(PathBuf),
}

impl Fixture {
    pub async fn new(on: On, folder: &Path) -> Self {
        match on {
            On::Postgres => {
                let server = Server::start_with(Kind::Postgres, Options::default()).await;
                Self::Postgres(Box::new(server.expect("it can be started here")))
            }
            On::Embedded => Self::Embedded(folder.join("baton.db")),
        }
    }

    pub fn url(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::Embedded(file) => format!("sqlite://{}", file.display()),
        }
    }

    /// The database of the user's own tables. The embedded store is a file of its own.
    pub fn shop(&self) -> String {
        match self {
            Self::Postgres(server) => server.url(),
            Self::Embedded(file) => format!("sqlite://{}", shop(file).display()),
        }
    }

    /// What is written instead of a moment that many seconds from now.
    pub fn in_seconds(&self, seconds: i32) -> String {
        match self {
            Self::Postgres(_) => format!("now() + interval '{seconds} seconds'"),
            Self::Embedded(_) => format!("datetime('now', '{seconds} seconds')"),
        }
    }

    /// Runs statements in the database of the user's tables.
    pub async fn execute(&self, sql: &str) {
        match self {
            Self::Postgres(server) => {
                let (client, _serving) = connect(&server.url()).await;
                client.batch_execute(sql).await.expect("the database is ours");
            }
            Self::Embedded(file) => open(&shop(file)).execute_batch(sql).expect("it is ours"),
        }
    }

    /// The numbers in a column of the user's tables; none while the table is not there.
    pub async fn numbers(&self, sql: &str) -> Vec<i64> {
        match self {
            Self::Postgres(server) => {
                let (client, _serving) = connect(&server.url()).await;
                let rows = client.query(sql, &[]).await.unwrap_or_default();
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Embedded(file) => all(&shop(file), sql),
        }
    }

    /// The epochs that wrote reports, in the order of the writes. The service keeps them in baton's
    /// database, or beside its file.
    pub async fn reports(&self) -> Vec<i64> {
        match self {
            Self::Postgres(_) => self.numbers("SELECT epoch FROM reports ORDER BY ctid").await,
            Self::Embedded(file) => {
                let reports = PathBuf::from(format!("{}.reports", file.display()));
                all(&reports, "SELECT epoch FROM reports ORDER BY rowid")
            }
        }
    }

    /// The store is away for this long: the server restarts, or another program locks the file.
    /// Says how long that took in the end.
    pub async fn away(&self, length: Duration) -> Duration {
        let from = SystemClock.now();
        match self {
            Self::Postgres(server) => {
                server.stop().await.expect("it is this test's own");
                SystemClock.sleep(length).await;
                server.start_again().await.expect("it starts again");
            }
            Self::Embedded(file) => {
                let lock = open(file);
                lock.execute_batch("BEGIN EXCLUSIVE").expect("the file is ours");
                SystemClock.sleep(length).await;
                lock.execute_batch("ROLLBACK").expect("the file is ours");
            }
        }
        SystemClock.now().since(from)
    }
}

fn open(file: &Path) -> Connection {
    let database = Connection::open(file).expect("the folder is writable");
    database.busy_timeout(Duration::from_secs(20)).expect("it is a good timeout");
    database
}

fn shop(file: &Path) -> PathBuf {
    file.with_file_name("shop.db")
}

fn all(file: &Path, sql: &str) -> Vec<i64> {
    let database = open(file);
    let Ok(mut statement) = database.prepare(sql) else { return Vec::new() };
    let rows = statement.query_map((), |row| row.get(0)).expect("it can be read");
    rows.map(|row| row.expect("it can be read")).collect()
}

async fn connect(url: &str) -> (Client, JoinSet<()>) {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.expect("the server answers");
    let mut serving = JoinSet::new();
    serving.spawn(async move { drop(connection.await) });
    (client, serving)
}
