//! A server of a test's own, copies of its data, and SQL behind baton's back.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::subject::Fixture;
use baton_testbed::{Kind, Options, Server};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A server with what a test does to it.
pub struct Postgres {
    pub server: Server,
}

impl Postgres {
    /// Starts one. Tests do not cut the power: the disk need not keep up. A short log is quickly
    /// copied.
    pub async fn start() -> Self {
        let quick = ["fsync=off", "full_page_writes=off", "max_wal_size=32MB", "min_wal_size=32MB"];
        Self::start_with(&[&quick[..], &["wal_init_zero=off", "wal_recycle=off"]].concat()).await
    }

    /// Starts one with these settings.
    pub async fn start_with(settings: &[&str]) -> Self {
        let flags = settings.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]);
        let options = Options { arguments: flags.collect(), ..Options::default() };
        let server = Server::start_with(Kind::Postgres, options).await;
        Self { server: server.expect("postgres can be started here") }
    }

    /// A handle on it.
    pub async fn open(&self) -> Arc<dyn Store> {
        baton_drivers::open(&self.server.url()).await.expect("the server answers")
    }

    /// Where its data lies.
    pub fn data(&self) -> PathBuf {
        self.server.folder().expect("it is ours").join("data")
    }

    /// Runs SQL as the superuser; the first column of what comes back.
    pub async fn sql(&self, sql: &str) -> Vec<String> {
        let session = Session::open(&self.server.url()).await;
        session.run(sql).await.expect("the server accepts it")
    }

    /// What a snapshot of the disk would hold at this moment.
    pub fn snapshot(&self, copy: &Path) -> Result<(), String> {
        drop(std::fs::remove_dir_all(copy));
        self.server.pause().map_err(|error| error.to_string())?;
        let copied = run("cp", &["-a", &shown(&self.data()), &shown(copy)]);
        self.server.resume().map_err(|error| error.to_string())?;
        copied?;
        std::fs::remove_file(copy.join("postmaster.pid")).map_err(|error| error.to_string())
    }

    /// Kills the server and puts this copy of its data in place.
    pub async fn put_back(&self, copy: &Path) -> Result<(), String> {
        let data = self.data();
        self.server.kill().await.map_err(|error| error.to_string())?;
        let lost = data.with_file_name("lost");
        drop(std::fs::remove_dir_all(&lost));
        std::fs::rename(&data, &lost).map_err(|error| error.to_string())?;
        run("cp", &["-a", &shown(copy), &shown(&data)])
    }

    /// Puts this copy of the data in place, and starts the server as a recovery of it would.
    pub async fn restore(&self, copy: &Path) -> Result<(), String> {
        self.put_back(copy).await?;
        let data = self.data();
        std::fs::write(data.join("recovery.signal"), "").map_err(|error| error.to_string())?;
        let settings = data.join("postgresql.auto.conf");
        let lines = "restore_command = 'false'\nhot_standby = off\n";
        std::fs::write(settings, lines).map_err(|error| error.to_string())?;
        self.server.start_again().await.map_err(|error| error.to_string())
    }
}

/// A session of the test's own.
pub struct Session {
    pub client: Client,
    _reader: JoinSet<()>,
}

impl Session {
    pub async fn open(url: &str) -> Self {
        let plain = url.split('?').next().expect("there is a part before it");
        let connected = tokio_postgres::connect(plain, NoTls).await;
        let (client, connection) = connected.expect("the server answers");
        let mut reader = JoinSet::new();
        reader.spawn(async move { drop(connection.await) });
        Self { client, _reader: reader }
    }

    /// The first column of what comes back.
    pub async fn run(&self, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
        let messages = self.client.simple_query(sql).await?;
        let first = |message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("null").to_owned()),
            _ => None,
        };
        Ok(messages.into_iter().filter_map(first).collect())
    }
}

pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The program of the server's that goes by this name.
pub fn program(name: &str) -> String {
    let found = std::fs::read_dir("/usr/lib/postgresql").expect("the server is installed");
    let found = found.filter_map(Result::ok).map(|entry| entry.path().join("bin").join(name));
    found.max().map_or_else(|| name.to_owned(), |path| shown(&path))
}

pub fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let done = Command::new(program).args(arguments).output();
    let done = done.map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    done.status.success().then_some(()).ok_or_else(|| format!("{program}: {said}"))
}

/// Gives `folder` to the owner of `like`, with all that is in it.
pub fn own_alike(like: &Path, folder: &Path) -> Result<(), String> {
    run("chown", &["-R", &format!("--reference={}", shown(like)), &shown(folder)])
}

#[async_trait]
impl Fixture for Postgres {
    fn url(&self) -> String {
        self.server.url()
    }

    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.server.url().replace("postgres@", "east@"))
    }

    async fn restart(&self) -> Result<bool, String> {
        self.server.stop().await.map_err(|error| error.to_string())?;
        self.server.start_again().await.map_err(|error| error.to_string())?;
        Ok(true)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        self.snapshot(&self.data().with_file_name("copy"))?;
        Ok(true)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        self.restore(&self.data().with_file_name("copy")).await
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        let spoil = "UPDATE baton_locks SET owner_boot = 'garbage', status = 7 WHERE lock_key";
        self.sql(&format!("{spoil} = '{namespace}'")).await;
        Ok(true)
    }
}
