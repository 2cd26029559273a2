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

    /// The file that the path names now; it is an error if it names none.
    pub(super) fn of_present(path: &Path) -> Result<Self, SqliteOpenError> {
        Self::at(path)?.ok_or_else(|| SqliteOpenError::Missing { path: path.to_owned() })
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
    match shared(found.f_type as u32) {
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

/// File systems that machines share, or that imitate one: locks and shared memory fail there. The
/// number that `statfs` gives as the type, and a name for people.
const SHARED: [(u32, &str); 22] = [
    (0x0000_517b, "smb"),
    (0x0000_564c, "ncp"),
    (0x0000_6969, "nfs"),
    (0x00c3_6400, "ceph"),
    (0x0102_1997, "9p"),
    (0x0116_1970, "gfs2"),
    (0x0bd0_0bd0, "lustre"),
    (0x1803_1977, "wekafs"),
    (0x1983_0326, "beegfs"),
    (0x4750_4653, "gpfs"),
    (0x5346_414f, "afs"),
    (0x6163_6673, "acfs"),
    (0x6573_5546, "fuse"),
    (0x6b41_4653, "afs"),
    (0x7375_7245, "coda"),
    (0x7461_636f, "ocfs2"),
    (0x786f_4256, "vboxsf"),
    (0x7c7c_6673, "prl_fs"),
    (0xaad7_aaea, "panfs"),
    (0xbacb_acbc, "vmhgfs"),
    (0xfe53_4d42, "smb2"),
    (0xff53_4d42, "cifs"),
];

/// The name of this type of file system, if machines share it.
fn shared(type_number: u32) -> Option<&'static str> {
    let at = SHARED.binary_search_by_key(&type_number, |(number, _)| *number).ok()?;
    Some(SHARED[at].1)
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
        assert!(told(Errno::IO).starts_with("/x/a.db cannot be read ("));
    }

    #[test]
    fn shared_file_systems_are_known_and_local_ones_are_not() {
        assert!(SHARED.is_sorted(), "the search needs the order");
        let known = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997].map(shared);
        assert_eq!(known, ["nfs", "cifs", "smb2", "fuse", "9p"].map(Some));
        let (ext4, xfs, btrfs, tmpfs, overlay) =
            (0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630);
        for local in [ext4, xfs, btrfs, tmpfs, overlay] {
            assert_eq!(shared(local), None, "{local:x}");
        }
    }
}
