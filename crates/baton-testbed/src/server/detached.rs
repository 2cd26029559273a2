//! A server without a leash: it outlives the process that started it, until it is stopped.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use baton_store::clock::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::started::{Options, StartedServer};
use super::{ready, recipe, tree};
use crate::error::{ErrorContext, TestbedError};

/// How long it may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server without a leash, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detached {
    /// Which server.
    pub kind: Kind,
    /// Its process id.
    pub pid: u32,
    /// When it started, in ticks since the machine was booted: another process may get its id.
    pub started: u64,
    /// Where it listens.
    pub address: SocketAddr,
    /// What baton opens.
    pub url: String,
    /// Where its data lies.
    pub folder: PathBuf,
}

impl Detached {
    /// Installs what is missing of it, and starts nothing. Takes its time.
    pub fn install(kind: Kind) -> Result<(), TestbedError> {
        recipe::install(kind)
    }

    /// Starts one, waits until it answers, and lets it go.
    pub async fn start(kind: Kind) -> Result<Self, TestbedError> {
        let ours = StartedServer::start(kind, Options::default()).await?;
        let (address, folder) = (ours.address(), ours.folder().to_path_buf());
        let pid = ours.detach()?;
        let not_running = TestbedError::NotRunning { server: kind.name() };
        let started = tree::started(pid).ok_or(not_running)?;
        Ok(Self { kind, pid, started, address, url: kind.url(address), folder })
    }

    /// Does it still run?
    pub fn is_alive(&self) -> bool {
        tree::is_alive(self.pid) && tree::started(self.pid) == Some(self.started)
    }

    /// Does it answer?
    pub async fn answers(&self) -> bool {
        ready::answers(self.kind, self.address).await
    }

    /// Ends it, if it still runs, and removes its folder. Says whether it still ran.
    pub async fn stop(&self) -> Result<bool, TestbedError> {
        let ran = self.is_alive();
        if ran {
            tree::signal(self.pid, self.kind.end());
            let until = SystemClock.now() + PATIENCE;
            while self.is_alive() && SystemClock.now() < until {
                SystemClock.sleep(Duration::from_millis(10)).await;
            }
        }
        if self.is_alive() {
            tree::kill(self.pid);
        }
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ran),
            removed => {
                removed.context(|| format!("removing {}", self.folder.display())).map(|()| ran)
            }
        }
    }
}
