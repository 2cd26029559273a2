//! MariaDB.

use std::fs;
use std::path::Path;

use super::data;
use super::recipe::{Recipe, ServerLocation};
use crate::error::{ErrorContext, TestbedError};
use crate::install::MARIADB;

/// Run by the server at every start, before it accepts clients.
const INIT: &str = "CREATE DATABASE IF NOT EXISTS baton;\n";

pub fn prepare(folder: &Path) -> Result<(), TestbedError> {
    let program = MARIADB.find()?;
    data::copy(&program, folder, |data| {
        let data = format!("--datadir={}", data.display());
        let flags = ["--auth-root-authentication-method=normal", "--skip-test-db"];
        let flags = flags.into_iter().chain(["--skip-name-resolve"]).map(str::to_owned);
        let command = ["mariadb-install-db".to_owned(), "--no-defaults".to_owned(), data];
        command.into_iter().chain(flags).collect()
    })?;
    let file = folder.join("init.sql");
    fs::write(&file, INIT).context(|| format!("writing {}", file.display()))
}

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let arguments = [
        "--no-defaults".to_owned(),
        format!("--datadir={}", location.path("data")),
        format!("--port={}", location.ports[0].number),
        "--bind-address=127.0.0.1".to_owned(),
        // In the data folder: a whole path may be too long for a socket.
        "--socket=socket".to_owned(),
        format!("--pid-file={}", location.path("pid")),
        format!("--init-file={}", location.path("init.sql")),
        "--skip-name-resolve".to_owned(),
        "--max-connections=400".to_owned(),
    ];
    Ok(Recipe {
        program: MARIADB.find()?,
        arguments: arguments.into(),
        environment: Vec::new(),
        unprivileged: true,
    })
}
