//! A server, and what can be done to it and behind its back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use baton_core::ids::Namespace;
use baton_store::Store;
use baton_testbed::subject::Fixture;
use baton_testbed::wait::until;
use baton_testbed::{Kind, Options, Server};

/// A server of a test's own.
pub async fn server(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().copied().map(str::to_owned).collect();
    let options = Options { arguments, ..Options::default() };
    Server::start_with(Kind::Redis, options).await.expect("Redis can be started")
}

/// Opens a URL that must open.
pub async fn open(url: &str) -> Arc<dyn Store> {
    baton_drivers::open(url).await.expect("the server can be used")
}

/// A connection that is not the store's.
pub async fn client(server: &Server) -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(server.url()).expect("the URL is sound");
    client.get_multiplexed_async_connection().await.expect("it answers")
}

/// Runs a command written as words.
pub async fn run<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> T {
    let mut connection = client(server).await;
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut connection).await.expect("the server does it")
}

/// Makes this server a copy of that one, and waits until it is.
pub async fn follow(replica: &Server, master: &Server) {
    let (host, port) = (master.address().ip().to_string(), master.address().port().to_string());
    let _: () = run(replica, &["REPLICAOF", &host, &port]).await;
    until("the replica is in step", async || {
        let info: String = run(replica, &["INFO", "replication"]).await;
        info.contains("master_link_status:up").then_some(())
    })
    .await;
}

/// Waits until the one replica has everything that was written here before.
///
/// `WAIT` speaks of the writes of its own connection alone, so this one writes first.
pub async fn copied(master: &Server) {
    let connection = client(master).await;
    let told = "the connection answers";
    let mut write = redis::cmd("SET");
    write.arg("copied").arg("up to here");
    let _: () = write.query_async(&mut connection.clone()).await.expect(told);
    until("the replica has it", async || {
        let mut wait = redis::cmd("WAIT");
        wait.arg(1).arg(100);
        let replicas: u64 = wait.query_async(&mut connection.clone()).await.expect(told);
        (replicas == 1).then_some(())
    })
    .await;
}

/// The key of a namespace, with the default prefix.
pub fn key(namespace: &Namespace, name: &str) -> String {
    format!("baton:{{{namespace}}}:{name}")
}

/// The server of the suite. A backup is a copy of its append-only log, and restoring one replaces
/// the server's process too.
pub struct Redis(pub Server);

impl Redis {
    fn log(&self) -> Result<PathBuf, String> {
        Ok(self.0.folder().map_err(|error| error.to_string())?.join("appendonlydir"))
    }

    fn kept(&self) -> Result<PathBuf, String> {
        Ok(self.0.folder().map_err(|error| error.to_string())?.join("kept"))
    }
}

/// Makes `to` a copy of the folder `from`.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

#[async_trait]
impl Fixture for Redis {
    fn url(&self) -> String {
        self.0.url()
    }

    /// A session has no time zone: another process in another zone is all there is.
    fn url_in_another_zone(&self) -> Option<String> {
        Some(self.0.url())
    }

    async fn restart(&self) -> Result<bool, String> {
        self.0.stop().await.map_err(|error| error.to_string())?;
        self.0.start_again().await.map_err(|error| error.to_string())?;
        Ok(true)
    }

    async fn keep_copy(&self, _namespace: &Namespace) -> Result<bool, String> {
        copy(&self.log()?, &self.kept()?).map_err(|error| error.to_string())?;
        Ok(true)
    }

    async fn restore_copy(&self, _namespace: &Namespace) -> Result<(), String> {
        self.0.kill().await.map_err(|error| error.to_string())?;
        copy(&self.kept()?, &self.log()?).map_err(|error| error.to_string())?;
        self.0.start_again().await.map_err(|error| error.to_string())
    }

    async fn corrupt(&self, namespace: &Namespace) -> Result<bool, String> {
        let _: i64 = run(&self.0, &["HSET", &key(namespace, "lease"), "epoch", "soon"]).await;
        Ok(true)
    }
}
