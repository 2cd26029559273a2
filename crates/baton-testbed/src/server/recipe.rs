//! How each server is installed, started, and fed its first data.

use std::path::{Path, PathBuf};

use super::kind::Kind;
use super::ports::Port;
use super::{etcd, mariadb, mysql, pgbouncer, postgres, redis, s3, zookeeper};
use crate::error::TestbedError;
use crate::folders;
use crate::install::{self, FAKETIME};

/// A command line, and what else there is to know of a server.
pub struct Recipe {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    /// Runs as another user if this is the superuser.
    pub unprivileged: bool,
}

/// Where a server lives.
pub struct ServerLocation<'a> {
    pub folder: &'a Path,
    pub ports: &'a [Port],
}

impl ServerLocation<'_> {
    /// A path in the folder, as an argument.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

/// Fills the folder with what the server expects to find. Takes its time.
pub fn prepare(kind: Kind, folder: &Path) -> Result<(), TestbedError> {
    match kind {
        Kind::Postgres => postgres::prepare(&install::POSTGRES.find()?, folder),
        Kind::Postgres18 => postgres::prepare(&postgres::install_18()?, folder),
        Kind::Mariadb => mariadb::prepare(folder),
        Kind::Mysql => mysql::prepare(folder),
        Kind::Seaweedfs | Kind::Zookeeper => folders::create(folder.join("data")).map(|_| ()),
        Kind::Redis | Kind::Etcd | Kind::Ministack | Kind::Pgbouncer => Ok(()),
    }
}

/// How the server is started there. Installs it if it is missing, which takes its time.
pub fn recipe(kind: Kind, location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    match kind {
        Kind::Postgres => Ok(postgres::recipe(install::POSTGRES.find()?, location)),
        Kind::Postgres18 => Ok(postgres::recipe(postgres::install_18()?, location)),
        Kind::Mariadb => mariadb::recipe(location),
        Kind::Redis => redis::recipe(location),
        Kind::Etcd => etcd::recipe(location),
        Kind::Ministack => s3::ministack(location),
        Kind::Mysql => mysql::recipe(location),
        Kind::Seaweedfs => s3::seaweedfs(location),
        Kind::Zookeeper => zookeeper::recipe(location),
        Kind::Pgbouncer => pgbouncer::recipe(location),
    }
}

/// Installs the server, and what its tests need, if it is missing. Takes its time.
pub fn install(kind: Kind) -> Result<(), TestbedError> {
    match kind {
        Kind::Postgres => {
            install::POSTGRES.find().and(FAKETIME.find()).and(install::PGBOUNCER.find())
        }
        Kind::Postgres18 => postgres::install_18(),
        Kind::Mariadb => install::MARIADB.find().and(FAKETIME.find()),
        Kind::Redis => install::REDIS.find(),
        Kind::Etcd => install::ETCD.find(),
        Kind::Ministack => s3::install_ministack(),
        Kind::Mysql => mysql::install(),
        Kind::Seaweedfs => s3::install_seaweedfs(),
        Kind::Zookeeper => install::ZOOKEEPER.find().and(install::JAVA.find()),
        Kind::Pgbouncer => install::PGBOUNCER.find(),
    }
    .map(|_| ())
}
