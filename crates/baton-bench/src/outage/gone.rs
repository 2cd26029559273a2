//! The store goes away and comes back: a server is killed and started again, a file is moved.

use std::path::{Path, PathBuf};

use baton_testbed::Server;

use crate::error::BenchError;
use crate::fixture::Fixture;

/// A store that is gone.
pub enum Away<'a> {
    /// Killed with -9.
    Server(&'a Server),
    /// No longer where its path says.
    File { here: PathBuf, there: PathBuf },
}

impl<'a> Away<'a> {
    /// Takes it away.
    pub async fn take(fixture: &'a Fixture, folder: &Path) -> Result<Self, BenchError> {
        if let Some(server) = fixture.server() {
            server.kill().await?;
            return Ok(Self::Server(server));
        }
        let (here, there) = (folder.join("baton.db"), folder.join("moved-away.db"));
        rename(&here, &there)?;
        Ok(Self::File { here, there })
    }

    /// Brings it back, with all its data. Returns when it answers.
    pub async fn bring_back(self) -> Result<(), BenchError> {
        match self {
            Self::Server(server) => Ok(server.start_again().await?),
            Self::File { here, there } => rename(&there, &here),
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), BenchError> {
    let moved = std::fs::rename(from, to);
    moved.map_err(|problem| BenchError::File { path: from.to_owned(), problem })
}
