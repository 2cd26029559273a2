//! What can go wrong with a cluster of processes.

use std::path::PathBuf;
use std::time::Duration;

use baton::{NodeId, StoreError};
use baton_core::settings::show_span;

/// Why the cluster did not do what it was to.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The store cannot be opened.
    #[error("{0}")]
    Open(#[from] baton_drivers::OpenError),
    /// The store answered with an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A process cannot be started, signalled or waited for.
    #[error("{what} ({problem})")]
    Process {
        /// What was wanted.
        what: String,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A file cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// The log has a line that no tick wrote.
    #[error("{}, line {line}: {problem}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        problem: serde_json::Error,
    },
    /// The system gives no random numbers.
    #[error(transparent)]
    NoChance(#[from] baton::BuildError),
    /// The term ended before its holder could be asked.
    #[error("the term of {node} (epoch {epoch}) ended before it could be asked to resign")]
    Overtaken {
        /// Who was to be asked.
        node: NodeId,
        /// In which term.
        epoch: u64,
    },
    /// No process of this name was started.
    #[error("no node {0} was started")]
    NoMember(NodeId),
    /// It did not come.
    #[error("waited {} for {what}, in vain", show_span(*patience))]
    Waited {
        /// What was waited for.
        what: &'static str,
        /// How long.
        patience: Duration,
    },
}
