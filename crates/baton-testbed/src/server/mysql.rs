//! MySQL by Oracle. Debian's stable suites do not have it, so it comes as a tree of unstable's
//! packages, run through that tree's own loader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::data;
use super::recipe::{Recipe, ServerLocation};
use crate::error::{ErrorContext, TestbedError};
use crate::folders;
use crate::install::{MMDEBSTRAP, run};

/// Run by the server at every start, before it accepts clients.
const INIT: &str = "CREATE DATABASE IF NOT EXISTS baton;\n";

/// The tree, made if it is missing and this is the superuser. Takes half a minute.
pub fn install() -> Result<PathBuf, TestbedError> {
    let above = folders::reachable_cache()?;
    let tree = above.join("mysql-sid");
    let server = tree.join("usr/sbin/mysqld");
    if server.is_file() {
        return Ok(tree);
    }
    if !folders::is_root() {
        let why = "only the superuser can unpack Debian's packages".to_owned();
        return Err(TestbedError::NotArrangeable { what: "MySQL by Oracle", why });
    }
    let program = MMDEBSTRAP.find()?;
    let _turn = folders::lock("mysql")?;
    if server.is_file() {
        return Ok(tree);
    }
    let making = above.join("mysql-making");
    // A rest of an attempt that was interrupted.
    let _ = fs::remove_dir_all(&making);
    let mut unpack = Command::new(program);
    unpack.args(["--mode=root", "--variant=extract", "--include=mysql-server-core"]);
    unpack.args(["--aptopt=Acquire::Check-Valid-Until \"false\"", "sid"]).arg(&making);
    run(unpack)?;
    fs::rename(&making, &tree).context(|| format!("making {}", tree.display()))?;
    Ok(tree)
}

/// The server's program, and what starts it.
fn program() -> Result<(PathBuf, Vec<String>), TestbedError> {
    let tree = install()?;
    let found = |folder: &str, prefix: &str, suffix: &str| {
        let entries = fs::read_dir(tree.join(folder)).into_iter().flatten().flatten();
        let mut paths = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(suffix)
        });
        paths.next()
    };
    let loader = found("usr/lib64", "ld-linux", "").or_else(|| found("usr/lib", "ld-linux", ""));
    let libraries = found("usr/lib", "", "-linux-gnu");
    let (Some(loader), Some(libraries)) = (loader, libraries) else {
        let why = format!("{} has no loader; remove it, and it is made anew", tree.display());
        return Err(TestbedError::NotArrangeable { what: "MySQL by Oracle", why });
    };
    let server = tree.join("usr/sbin/mysqld");
    let words = [
        "--library-path".to_owned(),
        libraries.display().to_string(),
        server.display().to_string(),
        "--no-defaults".to_owned(),
        format!("--basedir={}", tree.join("usr").display()),
    ];
    Ok((loader, words.into()))
}

pub fn prepare(folder: &Path) -> Result<(), TestbedError> {
    let (loader, words) = program()?;
    data::copy(Path::new(&words[2]), folder, |data| {
        let flags = [format!("--datadir={}", data.display()), "--initialize-insecure".to_owned()];
        [loader.display().to_string()].into_iter().chain(words.clone()).chain(flags).collect()
    })?;
    // Two servers that share it take each other for themselves.
    let identity = folder.join("data/auto.cnf");
    fs::remove_file(&identity).context(|| format!("removing {}", identity.display()))?;
    let file = folder.join("init.sql");
    fs::write(&file, INIT).context(|| format!("writing {}", file.display()))
}

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let (program, mut arguments) = program()?;
    arguments.extend([
        format!("--datadir={}", location.path("data")),
        format!("--port={}", location.ports[0].number),
        "--bind-address=127.0.0.1".to_owned(),
        "--mysqlx=OFF".to_owned(),
        "--socket=socket".to_owned(),
        format!("--pid-file={}", location.path("pid")),
        format!("--init-file={}", location.path("init.sql")),
        "--secure-file-priv=".to_owned(),
        "--max-connections=400".to_owned(),
    ]);
    Ok(Recipe { program, arguments, environment: Vec::new(), unprivileged: true })
}
