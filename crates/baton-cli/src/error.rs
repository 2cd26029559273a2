//! What can go wrong in a command: one line for a person, one exit code for a script.

use std::path::PathBuf;
use std::time::Duration;

use baton::BuildError;
use baton::plugins::counters::CountError;
use baton_core::TransferRefusal;
use baton_core::ids::{Namespace, NodeId};
use baton_core::settings::show_span;
use baton_store::StoreError;

use crate::config::{ConfigError, StoreUrl};
use crate::exit::Exit;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Mend the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be opened.
    #[error("{0}")]
    Open(baton_drivers::OpenError),
    /// Reading never makes a database.
    #[error("there is no database at {}; a node makes it when it starts: baton run, or baton serve",
        file.display())]
    NoDatabase {
        /// Where one was looked for.
        file: PathBuf,
    },
    /// The store answered with an error, or not at all.
    #[error("{url}: {problem}")]
    Store {
        /// Which store.
        url: StoreUrl,
        /// What it said.
        problem: StoreError,
    },
    /// Nobody can be asked.
    #[error("no node leads namespace {namespace}{because}; start a node, or wait for the election")]
    NobodyLeads {
        /// Where.
        namespace: Namespace,
        /// What is known of the last one.
        because: String,
    },
    /// The target cannot lead.
    #[error("{to} {reason}; {remedy}")]
    NotATarget {
        /// To whom it was to be.
        to: NodeId,
        /// Why not.
        reason: TransferRefusal,
        /// What to do.
        remedy: String,
    },
    /// The term ended before it could be asked.
    #[error("the term of {node} (epoch {epoch}) ended meanwhile; look at baton status, then again")]
    Overtaken {
        /// Who was to be asked.
        node: NodeId,
        /// In which term.
        epoch: u64,
    },
    /// Asked, and nothing happened.
    #[error("{node} has not handed over within {}; it stays asked until its term ends: \
        look at baton status", show_span(*waited))]
    NotInTime {
        /// Who was asked.
        node: NodeId,
        /// How long.
        waited: Duration,
    },
    /// Released, and nobody took it.
    #[error("{node} handed over, but no node leads after {}; is a candidate running? \
        Look at baton status", show_span(*waited))]
    NoSuccessor {
        /// Who was asked.
        node: NodeId,
        /// How long.
        waited: Duration,
    },
    /// Somebody else was faster than the node that was meant.
    #[error("{leads} leads now (epoch {epoch}), not {meant}; try again")]
    WentElsewhere {
        /// Who leads.
        leads: NodeId,
        /// In which term.
        epoch: u64,
        /// Who was to.
        meant: NodeId,
    },
    /// Another live process is this node.
    #[error("node id {id} is taken by another live process; choose another --id, or stop that one")]
    IdTaken {
        /// The id.
        id: NodeId,
    },
    /// The parent of this process leads there.
    #[error(
        "this process belongs to the command of node {node}, which leads namespace {namespace} \
        at {store} (BATON_EPOCH={epoch}): a node here would wait for its own parent; give another \
        --namespace or --store, or unset BATON_EPOCH if that command has ended"
    )]
    Nested {
        /// Whose command it is.
        node: String,
        /// In which term.
        epoch: String,
        /// Where it leads.
        namespace: Namespace,
        /// At which store.
        store: StoreUrl,
    },
    /// A newer process is this node.
    #[error("a newer process took node id {id} over while this one was silent")]
    Superseded {
        /// The id.
        id: NodeId,
    },
    /// A bug.
    #[error("the thread of node {id} failed, which is a bug of baton's; what it said is above")]
    Broken {
        /// The id.
        id: NodeId,
    },
    /// The node cannot start.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The collector cannot be told anything.
    #[error("otlp: {0}")]
    Telemetry(String),
    /// A file or folder cannot be written.
    #[error("{}: {problem}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// The system gives no random numbers, runtime or signals.
    #[error("{what}: {problem}")]
    System {
        /// What was wanted.
        what: &'static str,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A cluster of processes did not do what it was to.
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// A counter was not changed or read.
    #[error(transparent)]
    Count(CountError),
    /// The store holds no fences.
    #[error(transparent)]
    Fences(baton_drivers::fences::FencesError),
    /// No such fence.
    #[error(
        "there is no fence {name} at {store}; look at baton fences list, and name the \
        database that holds the data with --store"
    )]
    NoFence {
        /// Which one.
        name: String,
        /// Where it was looked for.
        store: StoreUrl,
    },
    /// Resetting must be confirmed, and no person can be asked.
    #[error(
        "resetting fence {name} must be confirmed, and stdin is not a terminal; give --yes \
        once no old instance runs"
    )]
    Unconfirmed {
        /// Which one.
        name: String,
    },
    /// What was asked of the simulator makes no sense.
    #[error("{0}")]
    Simulator(String),
}

impl CommandError {
    /// What a script is told.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Count(problem) => counted(problem),
            Self::Config(_)
            | Self::Simulator(_)
            | Self::Telemetry(_)
            | Self::Fences(_)
            | Self::Unconfirmed { .. }
            | Self::Nested { .. } => Exit::Usage,
            Self::Open(_) | Self::NoDatabase { .. } | Self::Store { .. } => Exit::Store,
            Self::NotInTime { .. } | Self::NoSuccessor { .. } => Exit::TimedOut,
            Self::IdTaken { .. } => Exit::IdTaken,
            Self::Build(BuildError::Settings(_) | BuildError::Unadvertised(_)) => Exit::Usage,
            Self::Cluster(_)
            | Self::Build(_)
            | Self::Broken { .. }
            | Self::Superseded { .. }
            | Self::NobodyLeads { .. }
            | Self::NotATarget { .. }
            | Self::Overtaken { .. }
            | Self::WentElsewhere { .. }
            | Self::NoFence { .. }
            | Self::Write { .. }
            | Self::System { .. } => Exit::Failed,
        }
    }
}

/// What a script is told of a counter that was not changed or read.
fn counted(problem: &CountError) -> Exit {
    match problem {
        CountError::Name(_) | CountError::TooFar { .. } => Exit::Usage,
        CountError::Unknown { .. } => Exit::TimedOut,
        CountError::NotCounted { .. } | CountError::Store(_) => Exit::Store,
        _ => Exit::Failed,
    }
}
