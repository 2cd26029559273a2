//! What can go wrong with servers for the day.

use std::path::PathBuf;

use baton_testbed::TestbedError;

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// There are servers already.
    #[error("{} lists servers already; end them first: cargo xtask servers down", list.display())]
    AlreadyUp { list: PathBuf },
    /// The list cannot be read or written.
    #[error("{}: {source}; remove it if no server of it runs", list.display())]
    List { list: PathBuf, source: std::io::Error },
    /// A server does not do what it should.
    #[error(transparent)]
    Server(#[from] TestbedError),
}
