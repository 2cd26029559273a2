//! One process of the cluster.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use baton::NodeId;
use rustix::process::{Pid, kill_process};

use super::{Body, ClusterError, Plan, Signal, log_in};
use crate::attempts::Attempts;

/// How long an asked process may take to end, and how often it is looked at meanwhile.
const END_LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_micros(500);

/// A process that takes part. Dropping it kills it.
pub struct Member {
    name: NodeId,
    process: Child,
}

impl Member {
    pub(super) fn start(plan: &Plan, name: &NodeId, store: &str) -> Result<Self, ClusterError> {
        Self::spawn(name, command(plan, name), store, &plan.folder.join(format!("{name}.err")))
    }

    /// Starts the process of a node. What it writes to stderr is added to a file.
    pub(super) fn spawn(
        name: &NodeId,
        mut command: Command,
        store: &str,
        said: &Path,
    ) -> Result<Self, ClusterError> {
        let file = |problem| ClusterError::File { path: said.to_owned(), problem };
        let said = File::options().create(true).append(true).open(said).map_err(file)?;
        // Not as a flag: every user of the machine can read those, and a URL may have a secret.
        command.env("BATON_STORE", store);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let what = command.get_program().display().to_string();
        let process = command.spawn().map_err(|problem| ClusterError::Process { what, problem })?;
        Ok(Self { name: name.clone(), process })
    }

    /// The name of its node.
    pub fn name(&self) -> &NodeId {
        &self.name
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Ends it at once: kill -9.
    pub fn kill(&mut self) -> Result<(), ClusterError> {
        self.signal(Signal::KILL)?;
        let waited = self.process.wait();
        waited.map(drop).map_err(|problem| self.trouble("wait for", problem))
    }

    /// Does it still run?
    pub fn runs(&mut self) -> Result<bool, ClusterError> {
        let status = self.process.try_wait();
        Ok(status.map_err(|problem| self.trouble("look at", problem))?.is_none())
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> Result<ExitStatus, ClusterError> {
        let mut attempts = Attempts::new(LOOK_EVERY, END_LIMIT);
        while attempts.next().await {
            let status = self.process.try_wait();
            if let Some(status) = status.map_err(|problem| self.trouble("wait for", problem))? {
                return Ok(status);
            }
        }
        Err(ClusterError::TimedOut { what: "the end of a node", limit: END_LIMIT })
    }

    /// Sends it a signal, if it still runs. A program with the library in it resigns at USR1.
    pub fn signal(&mut self, signal: Signal) -> Result<(), ClusterError> {
        if !self.runs()? {
            return Ok(());
        }
        let pid = Pid::from_child(&self.process);
        kill_process(pid, signal).map_err(|errno| self.trouble("signal", errno.into()))
    }

    fn trouble(&self, verb: &str, problem: std::io::Error) -> ClusterError {
        ClusterError::Process { what: format!("cannot {verb} node {}", self.name), problem }
    }
}

fn command(plan: &Plan, name: &NodeId) -> Command {
    let who = ["--id", name.as_str(), "--namespace", plan.namespace.as_str()];
    let mut command = match &plan.body {
        Body::Run(flags) => {
            let mut command = Command::new(&plan.program);
            command.arg("run").args(who).args(flags).arg("--").arg(&plan.program).arg("tick");
            command
        }
        Body::Library(program) => {
            let mut command = Command::new(program);
            command.arg("member").args(who);
            command
        }
    };
    let every = format!("{}us", plan.every.as_micros());
    command.args(["--every", &every, "--log"]).arg(log_in(&plan.folder));
    command
}

impl Drop for Member {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
