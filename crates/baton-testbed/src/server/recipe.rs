//! How each server is started, stopped, and fed its first data.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::kind::Kind;
use super::ports::Port;
use super::{etcd, mariadb, postgres, redis, s3};
use crate::error::TestbedError;

/// A command line, and what else there is to know of a server.
pub struct Recipe {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    /// Runs as somebody else if this is the superuser.
    pub unprivileged: bool,
    /// What asks it to end in good order.
    pub end: Signal,
}

/// Where a server lives.
pub struct Site<'a> {
    pub folder: &'a Path,
    pub ports: &'a [Port],
}

impl Site<'_> {
    /// A path in the folder, as an argument.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Fills the folder with what the server expects to find. Takes its time.
pub fn prepare(kind: Kind, folder: &Path) -> Result<(), TestbedError> {
    match kind {
        Kind::Postgres => postgres::prepare(folder),
        Kind::Mariadb => mariadb::prepare(folder),
        Kind::Redis | Kind::Etcd | Kind::Ministack => Ok(()),
    }
}

/// How the server is started there. Installs it if it is missing, which takes its time.
pub fn recipe(kind: Kind, site: &Site<'_>) -> Result<Recipe, TestbedError> {
    match kind {
        Kind::Postgres => postgres::recipe(site),
        Kind::Mariadb => mariadb::recipe(site),
        Kind::Redis => redis::recipe(site),
        Kind::Etcd => etcd::recipe(site),
        Kind::Ministack => s3::ministack(site),
    }
}
