//! The first data of a database server: made once, and copied for every start.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::as_nobody;
use crate::error::{ErrorContext, TestbedError};
use crate::folders;
use crate::install::run;

/// Copies the data that `init` makes to `folder/data`. It is made anew for another program.
pub fn copy(
    program: &Path,
    folder: &Path,
    init: impl FnOnce(&Path) -> Vec<String>,
) -> Result<(), TestbedError> {
    let template = template(program, init)?;
    let mut copy = Command::new("cp");
    copy.args(["-a", "--reflink=auto"]).arg(template).arg(folder.join("data"));
    run(copy)
}

fn template(
    program: &Path,
    init: impl FnOnce(&Path) -> Vec<String>,
) -> Result<PathBuf, TestbedError> {
    let found = fs::metadata(program).context(|| format!("looking at {}", program.display()))?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let above = folders::create(folders::reachable_cache()?.join("templates"))?;
    let template = above.join(format!("{name}-{:x}-{:x}", found.mtime(), found.len()));
    if template.is_dir() {
        return Ok(template);
    }
    let _turn = folders::lock(&name)?;
    if template.is_dir() {
        return Ok(template);
    }
    let making =
        tempfile::tempdir_in(&above).context(|| format!("a folder in {}", above.display()))?;
    folders::give_away(making.path())?;
    let data = making.path().join("data");
    let words = as_nobody().into_iter().chain(init(&data).into_iter().map(Into::into));
    let mut words = words.collect::<Vec<_>>().into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir("/");
    run(command)?;
    fs::rename(&data, &template).context(|| format!("making {}", template.display()))?;
    Ok(template)
}
