//! Where the testbed keeps things: what is made once under the target folder, and the temporary
//! folders of servers, which an unprivileged user must be able to reach.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{ErrorContext, TestbedError};

/// The user and group `nobody`, which own nothing. Servers that refuse to run as root run as this.
pub const NOBODY: u32 = 65_534;

/// Is this the superuser?
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Cargo's target folder, if the running program lies in one.
pub fn target() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    // The second is there even if cargo did not make the folder.
    let marks = ["CACHEDIR.TAG", ".rustc_info.json"];
    let marked = |folder: &&Path| marks.iter().any(|mark| folder.join(mark).is_file());
    program.ancestors().skip(1).find(marked).map(Path::to_path_buf)
}

/// The folder of whatever is made once and used by many tests.
pub fn cache() -> Result<PathBuf, TestbedError> {
    let from = |name| std::env::var_os(name).map(PathBuf::from);
    let folder = match (target(), from("XDG_CACHE_HOME"), from("HOME")) {
        (Some(target), ..) => target.join("testbed"),
        (None, Some(cache), _) => cache.join("baton-testbed"),
        (None, None, Some(home)) => home.join(".cache/baton-testbed"),
        (None, None, None) => PathBuf::from("/var/cache/baton-testbed"),
    };
    create(folder)
}

/// The same, at a place that every user may enter.
pub fn reachable_cache() -> Result<PathBuf, TestbedError> {
    let folder = cache()?;
    if !is_root() || is_reachable(&folder) {
        return Ok(folder);
    }
    create(PathBuf::from("/var/cache/baton-testbed"))
}

/// A temporary folder; one of [`NOBODY`]'s if the server runs as that.
pub fn temporary(name: &str, unprivileged: bool) -> Result<TempDir, TestbedError> {
    let above = if unprivileged { reachable_cache()? } else { cache()? };
    let above = create(above.join("servers"))?;
    let folder = tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(&above);
    let folder = folder.context(|| format!("a folder in {}", above.display()))?;
    if unprivileged {
        give_away(folder.path())?;
    }
    Ok(folder)
}

/// Makes [`NOBODY`] the owner, if this is the superuser.
pub fn give_away(path: &Path) -> Result<(), TestbedError> {
    if !is_root() {
        return Ok(());
    }
    let given = std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY));
    given.context(|| format!("giving {} away", path.display()))
}

/// Holds back other processes, and other threads of this one, until it is dropped.
pub fn lock(name: &str) -> Result<File, TestbedError> {
    let path = cache()?.join(format!("{name}.lock"));
    let what = || format!("locking {}", path.display());
    let file =
        File::options().create(true).truncate(false).write(true).open(&path).context(what)?;
    file.lock().context(what)?;
    Ok(file)
}

pub fn create(folder: PathBuf) -> Result<PathBuf, TestbedError> {
    fs::create_dir_all(&folder).context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

fn is_reachable(folder: &Path) -> bool {
    let open = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o001 != 0)
    };
    folder.ancestors().all(open)
}
