//! Why a bench could not be run to its end. A bar that is missed is no error.

use std::path::PathBuf;
use std::time::Duration;

use baton::{BuildError, LeftError, StoreError};
use baton_cli::cluster::ClusterError;
use baton_cli::error::CommandError;

/// Why a bench could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The cluster of processes did not do what it was to.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The system gives no random numbers.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] baton_drivers::OpenError),
    /// The store answered with an error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A server cannot be started.
    #[error(transparent)]
    Testbed(#[from] baton_testbed::TestbedError),
    /// A question to PostgreSQL beside baton's own failed.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// A question to Redis beside baton's own failed.
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
    /// A question to MySQL beside baton's own failed.
    #[error(transparent)]
    Mysql(#[from] mysql_async::Error),
    /// A node cannot be started.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A node left before it led.
    #[error(transparent)]
    Left(#[from] LeftError),
    /// Nodes did not come to know each other.
    #[error("{nodes} nodes did not all have each other in view within {} s", patience.as_secs())]
    NotSettled {
        /// How many.
        nodes: usize,
        /// How long they had.
        patience: Duration,
    },
    /// The fence for the user's own data could not be asked.
    #[error("{0}")]
    Fence(String),
    /// A process of the bench ended before its time, and said why.
    #[error("a worker ended too early: {status}")]
    WorkerEnded {
        /// How.
        status: std::process::ExitStatus,
    },
    /// A plugin did not do its work.
    #[error("plugin {name}: {error}")]
    Plugin {
        /// Which.
        name: String,
        /// What went wrong.
        error: String,
    },
    /// It was asked to end.
    #[error("stopped before its end; nothing was judged")]
    Stopped,
    /// There is nothing to measure.
    #[error("{} is not there; build it, or name it with --baton", .0.display())]
    NoProgram(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        problem: std::io::Error,
    },
    /// A task of the bench ended before its time.
    #[error("a part of the bench broke: {0}")]
    Broken(#[from] tokio::task::JoinError),
    /// The store did not do what was asked.
    #[error("the store answered {answer} to {what}")]
    Answer {
        /// What was asked.
        what: &'static str,
        /// What it said.
        answer: String,
    },
}
