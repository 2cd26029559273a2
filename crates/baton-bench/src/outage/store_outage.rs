//! The store goes away and comes back: a server is killed and started again, a file is moved.

use std::path::{Path, PathBuf};

use baton_testbed::Server;

use crate::error::BenchError;
use crate::fixture::Fixture;

/// A store that is away, until it is brought back.
pub enum StoreOutage<'a> {
    /// Killed with -9.
    Server(&'a Server),
    /// Moved to another path.
    File { path: PathBuf, moved_to: PathBuf },
}

impl<'a> StoreOutage<'a> {
    /// Takes the store away.
    pub async fn begin(fixture: &'a Fixture, folder: &Path) -> Result<Self, BenchError> {
        if let Some(server) = fixture.server() {
            server.kill().await?;
            return Ok(Self::Server(server));
        }
        let (path, moved_to) = (folder.join("baton.db"), folder.join("moved-away.db"));
        rename(&path, &moved_to)?;
        Ok(Self::File { path, moved_to })
    }

    /// Brings the store back, with all its data. Returns when it answers.
    pub async fn end(self) -> Result<(), BenchError> {
        match self {
            Self::Server(server) => Ok(server.start_again().await?),
            Self::File { path, moved_to } => rename(&moved_to, &path),
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), BenchError> {
    let moved = std::fs::rename(from, to);
    moved.map_err(|problem| BenchError::File { path: from.to_owned(), problem })
}
