//! A server, and what can be done to it behind the store's back.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::subject::Fixture;
use baton_testbed::wait::until;
use baton_testbed::{Kind, Options, Server};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row};

/// The session of a user without special rights is in another time zone.
const ZONE: [&str; 3] = [
    "CREATE USER IF NOT EXISTS 'east'@'%'",
    "GRANT ALL PRIVILEGES ON baton.* TO 'east'@'%'",
    "SET GLOBAL init_connect = 'SET time_zone = ''+02:00'''",
];

/// Is Oracle's server to be started instead of MariaDB's?
pub fn is_by_oracle() -> bool {
    std::env::var("BATON_TEST_MYSQL_BY").is_ok_and(|by| by == "oracle")
}

fn kind() -> Kind {
    if is_by_oracle() { Kind::Mysql } else { Kind::Mariadb }
}

/// A node of this namespace, with a handle of its own.
pub async fn contender(url: &str, space: &str, boot: u128) -> Contender {
    let store = baton_drivers::open(url).await.expect("it can be opened");
    Contender::new(&store, &namespace(space), boot)
}

/// A server of the test's own, or the one that the environment names.
pub struct MysqlFixture {
    pub server: Server,
    restored: AtomicU64,
}

impl MysqlFixture {
    pub async fn start() -> Self {
        Self::on(Server::start(kind()).await.expect("a server can be had"))
    }

    /// One with more flags.
    pub async fn start_with(arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        let options = Options { arguments, ..Options::default() };
        let server = Server::start_with(kind(), options).await;
        Self::on(server.expect("a server can be had"))
    }

    pub fn on(server: Server) -> Self {
        Self { server, restored: AtomicU64::new(0) }
    }

    /// Is it one that the environment names, whose data is not ours to copy?
    pub fn is_named(&self) -> bool {
        self.server.folder().is_err()
    }

    /// A connection of the superuser, changed in this way.
    pub async fn connect_with(&self, change: impl FnOnce(OptsBuilder) -> OptsBuilder) -> Conn {
        let options = Opts::from_url(&self.server.url()).expect("the testbed's URLs are sound");
        let options = OptsBuilder::from_opts(options).prefer_socket(false);
        Conn::new(change(options)).await.expect("the server answers")
    }

    /// A connection of the superuser.
    pub async fn connect(&self) -> Conn {
        self.connect_with(|options| options).await
    }

    /// Runs one statement as the superuser.
    pub async fn sql(&self, text: &str) -> Vec<Row> {
        let mut conn = self.connect().await;
        let rows = conn.query::<Row, _>(text).await;
        rows.unwrap_or_else(|error| unreachable!("{text} failed: {error}"))
    }

    /// Runs one statement as the superuser. It may fail.
    pub async fn try_sql(&self, text: &str) {
        let mut conn = self.connect().await;
        // The caller checks the effect by other means.
        let _ = conn.query_drop(text).await;
    }

    /// Runs one statement as the superuser, in no database.
    pub async fn sql_anywhere(&self, text: &str) {
        let mut conn = self.connect_with(|options| options.db_name(None::<String>)).await;
        conn.query_drop(text).await.expect("the superuser may");
    }

    /// The first column of the first row, as text.
    pub async fn value(&self, text: &str) -> Option<String> {
        self.sql(text).await.first()?.get::<Option<String>, _>(0).flatten()
    }

    /// Waits until a statement waits for a lock.
    ///
    /// The server's counter is asked: its table of transactions is a copy, which is made anew
    /// only when no session has read it for a tenth of a second.
    pub async fn until_a_statement_waits(&self) {
        let text = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
        until("a wait for a lock", async || {
            let rows = self.sql(text).await;
            let waiting = rows.first().and_then(|row| row.get::<String, _>(1));
            (waiting.expect("the server counts them") != "0").then_some(())
        })
        .await;
    }

    /// Sees to the user whose sessions are in another zone, now and after every restart.
    pub async fn prepare_zone(self) -> Self {
        for statement in ZONE {
            self.sql(statement).await;
        }
        if let Ok(folder) = self.server.folder() {
            add_line(folder, ZONE[2]);
        }
        self
    }

    /// Puts the copy back, and starts the same server on it: same id, same place.
    pub async fn put_back(&self) -> Result<(), String> {
        let (data, kept) = self.data().ok_or("the data is not ours")?;
        let said = |error: baton_testbed::TestbedError| error.to_string();
        self.server.kill().await.map_err(said)?;
        copy(&kept, &data)?;
        self.server.start_again().await.map_err(said)
    }

    fn data(&self) -> Option<(PathBuf, PathBuf)> {
        let folder = self.server.folder().ok()?;
        Some((folder.join("data"), folder.join("data.kept")))
    }
}

/// A statement that the server runs at every start, before it accepts connections.
fn add_line(folder: &Path, statement: &str) {
    let file = fs::OpenOptions::new().append(true).open(folder.join("init.sql"));
    let written = file.and_then(|mut file| writeln!(file, "{statement};"));
    written.expect("the testbed has made the file");
}

/// Puts a copy of one folder in the place of the other.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(|error| error.to_string())?;
    }
    let copied = Command::new("cp").args(["-a", "--sparse=always"]).args([from, to]).status();
    match copied.map(|status| status.success()) {
        Ok(true) => Ok(()),
        other => Err(format!("copying {} failed: {other:?}", from.display())),
    }
}

#[async_trait]
impl Fixture for MysqlFixture {
    fn url(&self) -> String {
        self.server.url()
    }

    fn url_in_another_zone(&self) -> Option<String> {
        let address = self.server.address();
        Some(format!("mysql://east@{address}/baton"))
    }

    async fn restart(&self) -> Result<bool, String> {
        if self.is_named() {
            return Ok(false);
        }
        let said = |error: baton_testbed::TestbedError| error.to_string();
        self.server.kill().await.map_err(said)?;
        self.server.start_again().await.map_err(said).map(|()| true)
    }

    /// The data folder of a server that stands still: what a snapshot of its disk would hold.
    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        let Some((data, kept)) = self.data() else { return Ok(false) };
        let said = |error: baton_testbed::TestbedError| error.to_string();
        self.server.pause().map_err(said)?;
        let copied = copy(&data, &kept);
        self.server.resume().map_err(said)?;
        copied.map(|()| true)
    }

    /// Comes up as another server, as a promoted replica does: with another server id. What the
    /// same server makes of its copy is asked in `restored`.
    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        let number = self.restored.fetch_add(1, Ordering::Relaxed) + 2;
        let folder = self.server.folder().map_err(|error| error.to_string())?;
        add_line(folder, &format!("SET GLOBAL server_id = {number}"));
        self.put_back().await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        let text = format!(
            "UPDATE baton_locks SET status = 7, owner_boot = 'not a boot', nonce_boot = 'garbage' \
             WHERE lock_key = '{namespace}'"
        );
        self.sql(&text).await;
        Ok(true)
    }
}
