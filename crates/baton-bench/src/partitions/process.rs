//! One process that owns partitions, as the bench sees it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use baton::clock::Moment;
use baton::partitions::TaskList;
use baton::{NodeId, Profile};
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Pid, Signal, kill_process};

use super::history::ProcessId;
use super::options::as_argument;
use crate::error::BenchError;

/// What all processes of a cluster are started with.
#[derive(Clone, Debug)]
pub struct OwnerPlan {
    /// The program.
    pub program: PathBuf,
    /// The store.
    pub store: String,
    /// Where.
    pub namespace: String,
    /// The folder of the logs.
    pub folder: PathBuf,
    /// Their settings.
    pub profile: Profile,
    /// The lists that all of them declare.
    pub lists: Vec<TaskList>,
    /// How often each writes for a partition, in milliseconds.
    pub writes_every_ms: Option<u64>,
}

/// A process. Dropping it kills it.
pub struct OwnerProcess {
    /// The name of its node.
    pub name: NodeId,
    /// Its place in the history.
    pub id: ProcessId,
    /// Was it told to drain?
    pub is_draining: bool,
    /// Was it stopped?
    pub is_paused: bool,
    /// Was it told to leave?
    pub is_leaving: bool,
    child: Child,
}

impl OwnerProcess {
    /// Starts it. The log is a new file.
    pub fn start(
        plan: &OwnerPlan,
        name: &NodeId,
        id: ProcessId,
        log: &Path,
    ) -> Result<Self, BenchError> {
        let trouble = |problem| BenchError::File { path: log.to_owned(), problem };
        let said = log.with_extension("err");
        let said = File::options().create(true).append(true).open(said).map_err(trouble)?;
        let mut command = Command::new(&plan.program);
        command.args(["owner", "--id", name.as_str(), "--namespace", &plan.namespace]);
        command.args(["--profile", plan.profile.name(), "--log"]).arg(log);
        for list in &plan.lists {
            command.args(["--list", &as_argument(list)]);
        }
        if let Some(every_ms) = plan.writes_every_ms {
            command.args(["--writes-every", &format!("{every_ms}ms")]);
        }
        // Not as a flag: every user of the machine can read those.
        command.env("BATON_STORE", &plan.store);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let child = command.spawn().map_err(trouble)?;
        let (is_draining, is_paused, is_leaving) = (false, false, false);
        Ok(Self { name: name.clone(), id, is_draining, is_paused, is_leaving, child })
    }

    /// Does it still run?
    pub fn runs(&mut self) -> Result<bool, BenchError> {
        let status = self.child.try_wait();
        let trouble = |problem| BenchError::File { path: self.name.as_str().into(), problem };
        Ok(status.map_err(trouble)?.is_none())
    }

    /// Sends it a signal, if it still runs.
    pub fn signal(&mut self, signal: Signal) -> Result<(), BenchError> {
        if !self.runs()? {
            return Ok(());
        }
        let trouble = |problem: rustix::io::Errno| BenchError::File {
            path: self.name.as_str().into(),
            problem: problem.into(),
        };
        kill_process(Pid::from_child(&self.child), signal).map_err(trouble)
    }

    /// Ends it at once, and says when that was.
    pub fn kill(mut self) -> Result<Moment, BenchError> {
        let at = SystemClock.now();
        self.signal(Signal::KILL)?;
        let trouble = |problem| BenchError::File { path: self.name.as_str().into(), problem };
        self.child.wait().map_err(trouble)?;
        Ok(at)
    }
}

impl Drop for OwnerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
