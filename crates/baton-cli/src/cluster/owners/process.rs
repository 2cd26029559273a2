//! One process that owns partitions, as its cluster sees it.

use std::path::{Path, PathBuf};
use std::process::Command;

use baton::clock::Moment;
use baton::partitions::TaskList;
use baton::{Namespace, NodeId, Profile};
use baton_store::clock::{Clock, SystemClock};

use super::ProcessId;
use super::options::as_argument;
use crate::cluster::{ClusterError, Member, Signal};

/// What all processes of a cluster are started with.
#[derive(Clone, Debug)]
pub struct OwnerPlan {
    /// The program.
    pub program: PathBuf,
    /// The words with which the program becomes an owner; the options of every owner follow them.
    pub command: Vec<String>,
    /// The store's URL.
    pub store: String,
    /// The namespace.
    pub namespace: Namespace,
    /// The folder of the logs.
    pub folder: PathBuf,
    /// The settings of the nodes.
    pub profile: Profile,
    /// The lists that all of them declare.
    pub lists: Vec<TaskList>,
}

/// A process. Dropping it kills it.
pub struct OwnerProcess {
    /// Its place in the history.
    pub id: ProcessId,
    /// Was it told to drain?
    pub is_draining: bool,
    /// Was it stopped?
    pub is_paused: bool,
    /// Was it told to leave?
    pub is_leaving: bool,
    member: Member,
}

impl OwnerProcess {
    /// Starts it. The log is a new file.
    pub(super) fn start(
        plan: &OwnerPlan,
        name: &NodeId,
        id: ProcessId,
        log: &Path,
    ) -> Result<Self, ClusterError> {
        let mut command = Command::new(&plan.program);
        command.args(&plan.command).args(["--id", name.as_str()]);
        command.args(["--namespace", plan.namespace.as_str()]);
        command.args(["--profile", plan.profile.name(), "--log"]).arg(log);
        for list in &plan.lists {
            command.args(["--list", &as_argument(list)]);
        }
        let member = Member::spawn(name, command, &plan.store, &log.with_extension("err"))?;
        let (is_draining, is_paused, is_leaving) = (false, false, false);
        Ok(Self { id, is_draining, is_paused, is_leaving, member })
    }

    /// The name of its node.
    pub fn name(&self) -> &NodeId {
        self.member.name()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.member.pid()
    }

    /// Does it give its partitions to others?
    pub fn gives_away(&self) -> bool {
        self.is_draining || self.is_leaving
    }

    /// Does it still run?
    pub fn runs(&mut self) -> Result<bool, ClusterError> {
        self.member.runs()
    }

    /// Sends it a signal, if it still runs.
    pub fn signal(&mut self, signal: Signal) -> Result<(), ClusterError> {
        self.member.signal(signal)
    }

    /// Ends it at once, and says when that was.
    pub(super) fn kill(mut self) -> Result<Moment, ClusterError> {
        let at = SystemClock.now();
        self.member.kill()?;
        Ok(at)
    }
}
