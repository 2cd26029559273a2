//! The list of servers that were started: a file in the target folder.

use std::fs;
use std::io;
use std::path::PathBuf;

use baton_testbed::server::Detached;

use crate::failure::Failure;

/// The list, by its file.
pub struct List(PathBuf);

impl List {
    /// In the target folder that this program lies in, or where the testbed keeps things else.
    pub fn here() -> Result<Self, Failure> {
        let folder = baton_testbed::target().map_or_else(baton_testbed::cache, Ok)?;
        Ok(Self(folder.join("servers.json")))
    }

    pub fn already_up(&self) -> Failure {
        Failure::AlreadyUp { list: self.0.clone() }
    }

    /// Every server that was written down. None if there is no list.
    pub fn read(&self) -> Result<Vec<Detached>, Failure> {
        let text = match fs::read_to_string(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|source| self.failure(source))?,
        };
        serde_json::from_str(&text).map_err(|error| self.failure(error.into()))
    }

    /// Writes them down; without any, there is no list.
    pub fn write(&self, servers: &[Detached]) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(servers).map_err(|it| self.failure(it.into()))?;
        let written = match servers {
            [] => fs::remove_file(&self.0),
            _ => fs::write(&self.0, text),
        };
        written.map_err(|source| self.failure(source))
    }

    fn failure(&self, source: io::Error) -> Failure {
        Failure::List { list: self.0.clone(), source }
    }
}
