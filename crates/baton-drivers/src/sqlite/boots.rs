//! The folder beside the database, with the process locks and the noted lineage: it is baton's
//! own, or it is not used.
//!
//! ```text
//!   app.db  rw-r--r--  ─► app.db-boots  rwx------   no link; owned by this user, by root, or by
//!   app.db  rw-rw----  ─► app.db-boots  rwxrwx---   the owner of app.db; not writable by others
//! ```
//!
//! In a folder that all users may write in, another user may have put a folder or a link of this
//! name there first. Nothing here follows a link, and every file is opened in the folder that was
//! looked at, whatever its path names by then.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::error::SqliteOpenError;
use super::file_identity::beside;

/// The mode with which all users may write.
const OTHERS_WRITE: u32 = 0o002;
/// The mode with which the group may write.
const GROUP_WRITES: u32 = 0o020;

/// Where the folder is, and which users may own it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boots {
    pub(super) path: PathBuf,
    owner: u32,
    group: u32,
    is_shared: bool,
}

/// The folder, open. What is done in it is done in this very folder.
pub(super) struct Folder {
    file: File,
    is_shared: bool,
}

impl Boots {
    /// The folder of this database, which may not be there.
    pub(super) fn of(database: &Path) -> Result<Self, SqliteOpenError> {
        let unreadable = |error| SqliteOpenError::Unreadable { path: database.to_owned(), error };
        let real = std::fs::canonicalize(database).map_err(unreadable)?;
        let found = std::fs::metadata(&real).map_err(unreadable)?;
        Ok(Self {
            path: beside(&real, "-boots"),
            owner: found.uid(),
            group: found.gid(),
            is_shared: found.mode() & GROUP_WRITES != 0,
        })
    }

    /// The folder, made if it is not there.
    pub(super) fn make(&self) -> io::Result<Folder> {
        match rustix::fs::mkdirat(CWD, &self.path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let folder = self.look()?;
        let found = folder.file.metadata()?;
        let is_mine = found.uid() == rustix::process::geteuid().as_raw();
        if is_mine && (found.uid(), found.gid()) != (self.owner, self.group) {
            // As SQLite does with its log: the superuser leaves nothing that the owner cannot use.
            // A user may give a file to a group of his own only; otherwise it stays as it is.
            let owner = rustix::process::geteuid().is_root().then(|| Uid::from_raw(self.owner));
            let _ = rustix::fs::fchown(&folder.file, owner, Some(Gid::from_raw(self.group)));
        }
        if is_mine && self.is_shared && found.mode() & 0o777 != 0o770 {
            rustix::fs::fchmod(&folder.file, Mode::RWXU | Mode::RWXG)?;
        }
        Ok(folder)
    }

    /// The folder, if it is there and one that may be used.
    pub(super) fn look(&self) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, &self.path, flags, Mode::empty());
        let fd = fd.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => io::Error::other("it is a link or no folder"),
            error => error.into(),
        })?;
        let folder = Folder { file: File::from(fd), is_shared: self.is_shared };
        let found = folder.file.metadata()?;
        let owners = [rustix::process::geteuid().as_raw(), 0, self.owner];
        if !owners.contains(&found.uid()) {
            let (uid, owner) = (found.uid(), self.owner);
            let why = format!("it belongs to user {uid}, and the database to user {owner}");
            return Err(io::Error::other(why));
        }
        if found.mode() & OTHERS_WRITE != 0 {
            let mode = found.permissions().mode() & 0o7777;
            return Err(io::Error::other(format!(
                "its mode is {mode:o}: all users may write in it"
            )));
        }
        Ok(folder)
    }
}

impl Folder {
    /// Opens a file that is there, to read and to lock it.
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        // Opening a pipe of this name would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.file, name, flags, Mode::empty())?))
    }

    /// Makes a file. Whatever had its name is removed, and never written to.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        match self.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let flags = OFlags::RDWR | OFlags::CLOEXEC | new;
        let file =
            File::from(rustix::fs::openat(&self.file, name, flags, Mode::RUSR | Mode::WUSR)?);
        if self.is_shared {
            // Those who share the database must see whether its lock is held.
            rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR | Mode::RGRP)?;
        }
        Ok(file)
    }

    /// Gives a file another name.
    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.file, from, &self.file, to)?)
    }

    /// Takes a name away.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.file, name, rustix::fs::AtFlags::empty())?)
    }

    /// Every name in it that can be read.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let entries = Dir::read_from(&self.file)?.filter_map(Result::ok);
        Ok(entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned)).collect())
    }

    /// Waits until its names outlast a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.file)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn database(folder: &Path, mode: u32) -> Boots {
        let path = folder.join("a.db");
        fs::write(&path, "").expect("there is room for tests");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
        Boots::of(&path).expect("it is there")
    }

    fn why(boots: &Boots) -> String {
        boots.make().err().expect("it is refused").to_string()
    }

    #[test]
    fn it_has_the_rights_of_the_database_and_no_more() {
        let folder = tempfile::tempdir().expect("there is room for tests");
        let mode = |boots: &Boots| fs::metadata(&boots.path).map(|it| it.mode() & 0o777).ok();
        let boots = database(folder.path(), 0o644);
        boots.make().expect("it can be made");
        assert_eq!(mode(&boots), Some(0o700));
        let shared = database(folder.path(), 0o660);
        let file = shared.make().expect("it is widened").create("x").expect("it is ours");
        assert_eq!(mode(&shared), Some(0o770));
        assert_eq!(file.metadata().map(|it| it.mode() & 0o777).ok(), Some(0o640));
    }

    #[test]
    fn what_another_user_may_have_put_there_is_refused() {
        let folder = tempfile::tempdir().expect("there is room for tests");
        let boots = database(folder.path(), 0o644);
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("there is room for tests");
        symlink(&elsewhere, &boots.path).expect("it can be made");
        assert!(why(&boots).contains("it is a link or no folder"), "{}", why(&boots));
        fs::remove_file(&boots.path).expect("it is ours");
        fs::write(&boots.path, "").expect("it is ours");
        assert!(why(&boots).contains("it is a link or no folder"), "{}", why(&boots));
        fs::remove_file(&boots.path).expect("it is ours");
        fs::create_dir(&boots.path).expect("it is ours");
        fs::set_permissions(&boots.path, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(why(&boots).contains("its mode is 777: all users may"), "{}", why(&boots));
        fs::set_permissions(&boots.path, fs::Permissions::from_mode(0o700)).expect("it is ours");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&boots.path, Some(65534), None).expect("root may");
            assert!(why(&boots).contains("it belongs to user 65534, and the"), "{}", why(&boots));
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let folder = tempfile::tempdir().expect("there is room for tests");
        let boots = database(folder.path(), 0o644).make().expect("it can be made");
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").expect("there is room for tests");
        let inside = folder.path().join("a.db-boots");
        symlink(&victim, inside.join("link")).expect("it can be made");
        fs::hard_link(&victim, inside.join("twin")).expect("it can be made");
        assert!(boots.open("link").is_err());
        for name in ["link", "twin"] {
            boots.create(name).expect("the name is taken over");
        }
        assert_eq!(fs::read_to_string(&victim).ok().as_deref(), Some("precious"));
        assert_eq!(boots.names().map(|names| names.len()).ok(), Some(4), "with . and ..");
    }
}
