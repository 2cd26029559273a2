//! A server that was started here.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use tempfile::TempDir;

use super::kind::Kind;
use super::ports::Port;
use super::process::Process;
use super::recipe::{self, Recipe, ServerLocation};
use super::{ready, s3, tree};
use crate::error::TestbedError;
use crate::{faketime, folders, install};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file that a server with a clock of its own reads its offset from.
const OFFSET: &str = "clock-offset";

/// What a test may want of its server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// More flags for the server, after the testbed's own.
    pub arguments: Vec<String>,
    /// Lets [`Server::step_clock`](super::Server::step_clock) step its clock, which PostgreSQL and
    /// MariaDB heed.
    pub faketime: bool,
    /// Where its data is to lie, and to stay. Otherwise in a temporary folder.
    pub folder: Option<PathBuf>,
}

/// A server that was started here. Its fields are dropped in this order.
pub struct StartedServer {
    kind: Kind,
    running: Mutex<Option<Process>>,
    recipe: Recipe,
    /// How far its clock is ahead in seconds, if it can be stepped.
    offset: Option<Mutex<i64>>,
    folder: PathBuf,
    temporary: Option<TempDir>,
    ports: Vec<Port>,
}

impl StartedServer {
    pub async fn start(kind: Kind, options: Options) -> Result<Self, TestbedError> {
        let made = tokio::task::spawn_blocking(move || Self::make(kind, options)).await;
        let ours = made.expect("making a folder does not panic")?;
        ours.start_again().await?;
        Ok(ours)
    }

    fn make(kind: Kind, options: Options) -> Result<Self, TestbedError> {
        let (folder, temporary) = match options.folder {
            Some(folder) => (folders::create(folder)?, None),
            None => {
                let temporary = folders::temporary(kind.name(), kind.is_unprivileged())?;
                (temporary.path().to_path_buf(), Some(temporary))
            }
        };
        if kind.is_unprivileged() {
            folders::give_away(&folder)?;
        }
        let ports = (0..kind.ports()).map(|_| Port::take()).collect::<Result<Vec<_>, _>>()?;
        let mut recipe = recipe::recipe(kind, &ServerLocation { folder: &folder, ports: &ports })?;
        recipe.arguments.extend(options.arguments);
        if !folder.join("data").exists() {
            recipe::prepare(kind, &folder)?;
        }
        let offset = options.faketime.then(|| Mutex::new(0));
        if offset.is_some() {
            write_offset(&folder, 0)?;
            recipe.environment.extend(faketime::environment(&folder.join(OFFSET))?);
        }
        Ok(Self { kind, running: Mutex::default(), recipe, offset, folder, temporary, ports })
    }

    pub fn address(&self) -> SocketAddr {
        self.ports[0].address()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn pid(&self) -> Result<u32, TestbedError> {
        let not_running = TestbedError::NotRunning { server: self.kind.name() };
        self.running().as_ref().map(|process| process.pid).ok_or(not_running)
    }

    /// Takes the leash off. Says its process id.
    pub fn detach(mut self) -> Result<u32, TestbedError> {
        let pid = self.pid()?;
        if let Some(process) = self.running().take() {
            process.detach();
        }
        if let Some(temporary) = self.temporary.take() {
            let _stays = temporary.keep();
        }
        Ok(pid)
    }

    pub fn kill(&self) {
        drop(self.running().take());
    }

    pub async fn stop(&self) {
        let process = self.running().take();
        if let Some(process) = process {
            process.stop(self.kind.end()).await;
        }
    }

    pub async fn start_again(&self) -> Result<(), TestbedError> {
        if self.pid().is_err() {
            // What is not ours to remove, the leash may not remove either.
            let goes = self.temporary.as_ref().map_or(Path::new(""), TempDir::path);
            let process = Process::start(&self.recipe, goes, &self.log())?;
            *self.running() = Some(process);
        }
        self.wait_until_ready().await?;
        match self.kind {
            Kind::Ministack | Kind::Seaweedfs => s3::make_bucket(self.address()).await,
            _ => Ok(()),
        }
    }

    async fn wait_until_ready(&self) -> Result<(), TestbedError> {
        let until = SystemClock.now() + PATIENCE;
        loop {
            if ready::answers(self.kind, self.address()).await {
                return Ok(());
            }
            if !self.running().as_ref().is_some_and(Process::is_alive) {
                return Err(self.not_ready("it has ended".to_owned()));
            }
            if SystemClock.now() >= until {
                let what = format!("no answer on {} within {PATIENCE:?}", self.address());
                return Err(self.not_ready(what));
            }
            SystemClock.sleep(Duration::from_millis(10)).await;
        }
    }

    fn not_ready(&self, what: String) -> TestbedError {
        let log = install::tail(&fs::read(self.log()).unwrap_or_default());
        TestbedError::NotReady { server: self.kind.name(), what, log }
    }

    pub fn pause(&self) -> Result<(), TestbedError> {
        self.pid().map(tree::pause)
    }

    pub fn resume(&self) -> Result<(), TestbedError> {
        self.pid().map(tree::resume)
    }

    pub fn cpu(&self) -> Result<Duration, TestbedError> {
        self.pid().map(tree::cpu)
    }

    pub fn step_clock(&self, seconds: i64) -> Result<(), TestbedError> {
        let real = TestbedError::RealClock { server: self.kind.name() };
        let mut offset = self.offset.as_ref().ok_or(real)?.lock().expect("no holder panics");
        *offset += seconds;
        write_offset(&self.folder, *offset)
    }

    fn running(&self) -> MutexGuard<'_, Option<Process>> {
        self.running.lock().expect("no holder panics")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }
}

fn write_offset(folder: &Path, seconds: i64) -> Result<(), TestbedError> {
    faketime::write(&folder.join(OFFSET), seconds)
}
