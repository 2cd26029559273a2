//! PostgreSQL.

use std::path::Path;

use super::data;
use super::recipe::{Recipe, Site};
use crate::error::TestbedError;
use crate::install::POSTGRES;

pub fn prepare(folder: &Path) -> Result<(), TestbedError> {
    let program = POSTGRES.find()?;
    let init = program.with_file_name("initdb").display().to_string();
    data::copy(&program, folder, |data| {
        let data = format!("--pgdata={}", data.display());
        let flags = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"];
        let flags = flags.into_iter().chain(["--locale=C"]).map(str::to_owned);
        [init, data].into_iter().chain(flags).collect()
    })
}

pub fn recipe(site: &Site<'_>) -> Result<Recipe, TestbedError> {
    let port = site.ports[0].number;
    let settings = [
        format!("port={port}"),
        "listen_addresses=127.0.0.1".to_owned(),
        // A path may be too long for a socket.
        "unix_socket_directories=".to_owned(),
        "max_connections=400".to_owned(),
        "wal_level=replica".to_owned(),
    ];
    let flags = settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]);
    Ok(Recipe {
        program: POSTGRES.find()?,
        arguments: ["-D".to_owned(), site.path("data")].into_iter().chain(flags).collect(),
        environment: vec![("LC_ALL", "C".to_owned())],
        unprivileged: true,
    })
}
