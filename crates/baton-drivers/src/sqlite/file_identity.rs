//! The place of the file: which file it is, and whether it can be used there.
//!
//! The database file is never opened here: closing it again would drop every lock that SQLite holds
//! on it in this process.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;

use super::error::SqliteOpenError;
use super::filesystem;

/// Tells one file from another. The birth tells a new file from the one whose number it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// When the inode was made, in nanoseconds; 0 where the file system does not tell.
    pub(super) born: u64,
}

impl FileId {
    /// The file that the path names now; `None` if it names none.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, SqliteOpenError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SqliteOpenError::Unreadable { path: path.to_owned(), error }),
        }
    }

    /// The file that was looked at.
    pub(super) fn of(metadata: &fs::Metadata) -> Self {
        let since = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        Self { device: metadata.dev(), inode: metadata.ino(), born }
    }

    /// Is it the same one, though the device may have got another number since?
    pub(super) fn is_same_on_disk(&self, other: &Self) -> bool {
        (self.inode, self.born) == (other.inode, other.born)
    }
}

/// The path with something after its name, as SQLite does it too.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Checks that a store can be here. Makes the folders above it, for this user alone.
pub(super) fn prepare(path: &Path) -> Result<(), SqliteOpenError> {
    if path.is_dir() {
        return Err(SqliteOpenError::IsFolder { path: path.to_owned() });
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let make = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    make.map_err(|error| SqliteOpenError::NoFolder { path: folder.to_owned(), error })?;
    let exists = path.exists();
    is_local(if exists { path } else { folder }, path)?;
    if exists {
        may_write(path, Access::WRITE_OK)?;
    }
    // The log and the index of the log are made beside the file.
    may_write(folder, Access::WRITE_OK | Access::EXEC_OK)
}

/// Refuses another user's link in a folder where all users may make one.
pub(super) fn is_not_planted(path: &Path) -> Result<(), SqliteOpenError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let folder = path.parent().and_then(|folder| fs::metadata(folder).ok());
    let open_to_all = folder.as_ref().is_some_and(|folder| folder.mode() & 0o002 != 0);
    let mine = rustix::process::geteuid().as_raw();
    let trusted = [mine, folder.map_or(mine, |folder| folder.uid())];
    match found.is_symlink() && open_to_all && !trusted.contains(&found.uid()) {
        true => Err(SqliteOpenError::Planted { path: path.to_owned(), owner: found.uid() }),
        false => Ok(()),
    }
}

fn is_local(place: &Path, path: &Path) -> Result<(), SqliteOpenError> {
    let unreadable = |error: Errno| SqliteOpenError::Unreadable {
        path: place.to_owned(),
        error: io::Error::from(error),
    };
    let found = rustix::fs::statfs(place).map_err(unreadable)?;
    // The numbers have 32 bits; some platforms extend their sign.
    match filesystem::shared(found.f_type as u32) {
        Some(filesystem) => Err(SqliteOpenError::Remote { path: path.to_owned(), filesystem }),
        None => Ok(()),
    }
}

fn may_write(path: &Path, access: Access) -> Result<(), SqliteOpenError> {
    let allowed = rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS);
    allowed.map_err(|error| not_writable(path, error))
}

fn not_writable(path: &Path, error: Errno) -> SqliteOpenError {
    let path = path.to_owned();
    match error {
        Errno::ROFS => SqliteOpenError::ReadOnly { path },
        Errno::ACCESS | Errno::PERM => SqliteOpenError::NoPermission { path },
        error => SqliteOpenError::Unreadable { path, error: io::Error::from(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_of_writing_is_told_apart() {
        let told = |error| not_writable(Path::new("/x/a.db"), error).to_string();
        assert_eq!(told(Errno::ROFS), "/x/a.db is read-only; choose a place that can be written");
        let forbidden = "/x/a.db may not be written by this user; give it write permission";
        assert_eq!(told(Errno::ACCESS), forbidden);
        assert!(told(Errno::IO).starts_with("/x/a.db cannot be looked at ("));
    }
}
