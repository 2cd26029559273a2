//! Errors of commands: one line for a person, one exit code for a script.

use std::path::PathBuf;
use std::time::Duration;

use baton::BuildError;
use baton::once::{InvalidKey, OnceCause, OnceError};
use baton::partitions::{PartitionsError, TaskListError, TaskListRefused};
use baton::plugins::counters::CountError;
use baton::plugins::schedules::ScheduleError;
use baton_core::TransferRefusal;
use baton_core::ids::{Namespace, NodeId};
use baton_core::settings::show_span;
use baton_drivers::fences::FencesError;
use baton_store::StoreError;

use crate::cluster::ClusterError;
use crate::config::{ConfigError, StoreUrl};

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum CommandError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Open(baton_drivers::OpenError),
    /// A command that only reads does not create a database.
    #[error("there is no database at {}; a node creates it when it starts: baton run, or \
        baton serve", file.display())]
    NoDatabase { file: PathBuf },
    #[error("{url}: {problem}")]
    Store { url: StoreUrl, problem: StoreError },
    #[error("no node leads namespace {namespace}{because}; start a node, or wait for the election")]
    NoLeader { namespace: Namespace, because: String },
    #[error("{to} {reason}; {remedy}")]
    NotATarget { to: NodeId, reason: TransferRefusal, remedy: String },
    #[error(
        "the term of {node} (epoch {epoch}) ended before the request was written; check \
        baton status, then try again"
    )]
    Overtaken { node: NodeId, epoch: u64 },
    #[error("{node} has not handed over within {}; the request stays until its term ends: \
        check baton status", show_span(*waited))]
    NotInTime { node: NodeId, waited: Duration },
    #[error("{node} handed over, but no node leads after {}; is a candidate running? \
        Check baton status", show_span(*waited))]
    NoSuccessor { node: NodeId, waited: Duration },
    #[error("{leads} leads now (epoch {epoch}), not {meant}; try again")]
    WentElsewhere { leads: NodeId, epoch: u64, meant: NodeId },
    #[error("node id {id} is taken by another live process; choose another --id, or stop that one")]
    IdTaken { id: NodeId },
    /// A node in the environment of a leader's command would wait for its own parent.
    #[error(
        "this process belongs to the command of node {node}, which leads namespace {namespace} \
        at {store} (BATON_EPOCH={epoch}): a node here would wait for its own parent; give another \
        --namespace or --store, or unset BATON_EPOCH if that command has ended"
    )]
    Nested { node: String, epoch: String, namespace: Namespace, store: StoreUrl },
    #[error("a newer process took over node id {id} while this one was silent")]
    Superseded { id: NodeId },
    #[error("the thread of node {id} failed, which is a bug in baton; its message is above")]
    Broken { id: NodeId },
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(
        "{program} runs other programs, so that its name does not tell schedules apart; give the \
        schedule a name with --schedule"
    )]
    Unnamed { program: String },
    #[error("{flag} has no effect without {other}")]
    Needs { flag: &'static str, other: &'static str },
    #[error("otlp: {0}")]
    Telemetry(String),
    #[error("{}: {problem}", path.display())]
    Write { path: PathBuf, problem: std::io::Error },
    #[error("{what}: {problem}")]
    System { what: &'static str, problem: std::io::Error },
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Count(CountError),
    #[error(transparent)]
    Schedule(ScheduleError),
    #[error(transparent)]
    TaskList(TaskListError),
    #[error(transparent)]
    Partitions(PartitionsError),
    #[error("node {node} takes partitions already; --add names one that does not")]
    NodePresent { node: NodeId },
    #[error("there is no schedule {name} in namespace {namespace}; {remedy}")]
    NoSchedule { name: String, namespace: Namespace, remedy: String },
    #[error("{sentence}")]
    RunFailed { sentence: String },
    #[error("the run of {name} has not ended within {}: {stands}", show_span(*waited))]
    RunNotInTime { name: String, stands: String, waited: Duration },
    #[error(
        "the run of {name} is no longer known: its schedule was removed, or has had many runs \
        since; baton schedules history {name}"
    )]
    RunGone { name: String },
    #[error(transparent)]
    Fences(FencesError),
    #[error(
        "there is no fence {name} at {store}; `baton fences list` shows all fences of a store, \
        and --store names the database that holds the data"
    )]
    NoFence { name: String, store: StoreUrl },
    #[error(
        "resetting fence {name} must be confirmed, and stdin is not a terminal; give --yes \
        once no old instance runs"
    )]
    Unconfirmed { name: String },
    #[error("{0}")]
    Simulator(String),
    #[error(transparent)]
    Key(InvalidKey),
    #[error(transparent)]
    Once(OnceError),
    #[error("{key} is not done: this process was asked to end")]
    Interrupted { key: String },
}

impl CommandError {
    /// The system refused what the command needs.
    pub fn system(what: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |problem| Self::System { what, problem }
    }

    /// The exit code that scripts see.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Config(_)
            | Self::Needs { .. }
            | Self::Unnamed { .. }
            | Self::Key(_)
            | Self::Simulator(_)
            | Self::Telemetry(_)
            | Self::Fences(_)
            | Self::Unconfirmed { .. }
            | Self::Nested { .. }
            | Self::Count(CountError::Name(_) | CountError::TooFar { .. })
            | Self::Schedule(ScheduleError::Invalid(_))
            | Self::TaskList(TaskListError::Refused(TaskListRefused::Invalid(_)))
            | Self::Build(
                BuildError::Settings(_) | BuildError::Unadvertised(_) | BuildError::Schedule(_),
            ) => Exit::USAGE,
            Self::Open(_)
            | Self::NoDatabase { .. }
            | Self::Once(OnceError::Unreadable { .. })
            | Self::Store { .. }
            | Self::Schedule(ScheduleError::Pages(_))
            | Self::TaskList(
                TaskListError::Unreadable { .. }
                | TaskListError::Assignment { .. }
                | TaskListError::Store(_)
                | TaskListError::Refused(TaskListRefused::Format { .. }),
            )
            | Self::Partitions(_)
            | Self::Count(CountError::NotCounted { .. } | CountError::Store(_)) => Exit::STORE,
            Self::Once(OnceError::Failed { failure, .. }) => match failure.cause {
                OnceCause::Exit(code) => Exit(code),
                OnceCause::TimedOut { .. } => Exit::TIMED_OUT,
                _ => Exit::FAILED,
            },
            Self::Once(OnceError::TimedOut { .. })
            | Self::NotInTime { .. }
            | Self::NoSuccessor { .. }
            | Self::RunNotInTime { .. }
            | Self::Count(CountError::Unknown { .. }) => Exit::TIMED_OUT,
            Self::IdTaken { .. } => Exit::ID_TAKEN,
            _ => Exit::FAILED,
        }
    }
}

/// How a command ended, as the code of the process. `run` and `once` end with the code of their
/// command too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(
    /// The code.
    pub u8,
);

#[expect(missing_docs, reason = "the help below says what each code means")]
impl Exit {
    pub const DONE: Self = Self(0);
    pub const FAILED: Self = Self(1);
    /// The command line or the settings make no sense.
    pub const USAGE: Self = Self(2);
    /// The store cannot be reached, refuses, or is not there.
    pub const STORE: Self = Self(3);
    /// Nothing was refused, but it did not happen in time.
    pub const TIMED_OUT: Self = Self(4);
    pub const ID_TAKEN: Self = Self(5);
    pub const WARNED: Self = Self(6);
    /// `run` alone: leadership was lost, and that was to be the end.
    pub const LOST: Self = Self(7);
    /// `demo` alone: Ctrl-C.
    pub const INTERRUPTED: Self = Self(130);
    pub const PIPE_CLOSED: Self = Self(141);
}

/// The codes for the long help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the command failed or was refused; `health`: the cluster is critical
  2  the command line or the settings are invalid
  3  the store cannot be reached, refuses requests, or does not exist
  4  the time limit passed
  5  another live process has the id of this node
  6  `doctor`: warnings; `health`: the cluster is degraded
  7  `run --on-lost exit`: leadership was lost
`run` and `once` otherwise end with the code of the command that was run.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_code_that_a_script_may_meet() {
        let documented = [Exit::DONE, Exit::FAILED, Exit::USAGE, Exit::STORE, Exit::TIMED_OUT];
        for exit in documented.into_iter().chain([Exit::ID_TAKEN, Exit::WARNED, Exit::LOST]) {
            assert!(EXIT_CODES.contains(&format!("\n  {}  ", exit.0)), "{exit:?}");
        }
    }
}
