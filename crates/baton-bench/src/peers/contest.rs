//! One trial of a peer: one process has the lock, another waits for it, and the first is struck.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use baton_cli::cluster::Ticks;
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::Signal;

use super::lock::RENEW_EVERY;
use super::{Peer, etcd, hold};
use crate::error::BenchError;
use crate::log_reader::LogReader;
use crate::processes::{in_folder, send};
use crate::sandbox::Sandbox;

/// How long anything may take: well beyond the lock's time to live.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a waiter has to get in line. Nothing tells that a poller has begun to poll.
const GETS_IN_LINE: Duration = Duration::from_secs(2);

/// How the holder is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrikeKind {
    Kill,
    Resign,
}

impl StrikeKind {
    /// Its name in the table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kill => "kill -9",
            Self::Resign => "resign",
        }
    }
}

/// A process that has the lock or waits for it. Dropping it kills it.
struct LockProcess(Child);

impl Drop for LockProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A holder and a waiter.
pub struct Contest {
    peer: Peer,
    log: PathBuf,
    holder: LockProcess,
    waiter: LockProcess,
}

impl Contest {
    /// Starts both, one after the other, and waits until the strike may come: at any moment
    /// between two renewals.
    pub async fn begin(
        sandbox: &Sandbox,
        url: &str,
        peer: Peer,
        kind: StrikeKind,
        number: u32,
    ) -> Result<Self, BenchError> {
        let key = i64::from(number) * 2 + i64::from(kind == StrikeKind::Kill);
        let folder = sandbox.room(&format!("peer-{peer:?}-{key}"))?;
        let log = folder.join("ticks.log");
        let start = |epoch| start(sandbox, url, peer, key, &log, epoch);
        let mut lines = LogReader::from_now(&log)?;
        let holder = start(1)?;
        lines.next_term(0, PATIENCE).await?;
        let waiter = start(2)?;
        let mut chance = Rng::new(u64::from(number));
        SystemClock.sleep(GETS_IN_LINE + chance.span(Duration::ZERO, RENEW_EVERY)).await;
        Ok(Self { peer, log, holder, waiter })
    }

    /// Strikes, and waits for the waiter's first line.
    pub async fn strike(&mut self, kind: StrikeKind) -> Result<Duration, BenchError> {
        let mut lines = LogReader::from_now(&self.log)?;
        let ticks = Ticks::read(&self.log)?;
        let job = ticks.all().first().map(|tick| tick.pid);
        let before = SystemClock.now();
        let signal = if kind == StrikeKind::Kill { Signal::KILL } else { Signal::TERM };
        // etcdctl gives the lock up when its command ends; the others when they are told to.
        let target = match (self.peer, kind) {
            (Peer::Etcdctl, StrikeKind::Resign) => job.unwrap_or(self.holder.0.id()),
            _ => self.holder.0.id(),
        };
        send(target, signal)?;
        let next = lines.next_term(1, PATIENCE).await?;
        Ok(next.at.since(before))
    }

    /// Ends both processes, and jobs that lost their parent.
    pub fn end(self, sandbox: &Sandbox) -> Result<(), BenchError> {
        let Self { log, holder, waiter, .. } = self;
        drop((holder, waiter));
        let ticks = Ticks::read(&log)?;
        let no_list = |problem| BenchError::File { path: "/proc".into(), problem };
        for process in in_folder(sandbox.folder()).map_err(no_list)? {
            if ticks.all().iter().any(|tick| tick.pid == process.pid) {
                send(process.pid, Signal::KILL)?;
            }
        }
        Ok(())
    }
}

fn start(
    sandbox: &Sandbox,
    url: &str,
    peer: Peer,
    key: i64,
    log: &Path,
    epoch: u64,
) -> Result<LockProcess, BenchError> {
    let mut command = match peer {
        Peer::Etcdctl => etcd::lock(url, &format!("lock-{key}"), sandbox.program()),
        Peer::Textbook => hold::command("textbook", key, url)?,
        Peer::Advisory => hold::command("advisory", key, url)?,
        Peer::Zookeeper => hold::command("zookeeper", key, url)?,
    };
    command.args(["--epoch", &epoch.to_string(), "--log"]).arg(log);
    let said = log.with_extension("err");
    let file = File::options().create(true).append(true).open(&said);
    let file = file.map_err(|problem| BenchError::File { path: said, problem })?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let started = command.spawn();
    let trouble = |problem| BenchError::File { path: command.get_program().into(), problem };
    started.map(LockProcess).map_err(trouble)
}
