//! Errors of a cluster of processes.

use std::path::PathBuf;
use std::time::Duration;

use baton::{NodeId, StoreError};
use baton_core::settings::show_span;

/// Why the cluster did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each message says what its variant and fields mean")]
pub enum ClusterError {
    #[error("{0}")]
    Open(#[from] baton_drivers::OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{what} ({problem})")]
    Process { what: String, problem: std::io::Error },
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: std::io::Error },
    #[error("{}, line {line}: {problem}", path.display())]
    Log { path: PathBuf, line: usize, problem: serde_json::Error },
    #[error(transparent)]
    Build(#[from] baton::BuildError),
    #[error("the term of {node} (epoch {epoch}) ended before it could be asked to resign")]
    Overtaken { node: NodeId, epoch: u64 },
    #[error("no node {0} was started")]
    NoMember(NodeId),
    #[error("the process of node {0} ended without being asked to")]
    Ended(NodeId),
    #[error("{what} did not appear within {}", show_span(*limit))]
    TimedOut { what: &'static str, limit: Duration },
    #[error("partitions were not owned and balanced within {}: {wrong}", show_span(*within))]
    Unbalanced { wrong: String, within: Duration },
}
