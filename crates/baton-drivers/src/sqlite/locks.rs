//! Process locks: a file for each boot, locked by the kernel for as long as its process lives.
//!
//! ```text
//!   draft ── lock, write what it is ──► rename to <boot>    never there without its lock
//!   another process: open, shared lock: refused ─► alive
//!                                       granted ─► dead, if the file is the one that was locked
//!   no such file, or another one of that name ─► unknown
//! ```
//!
//! The lock belongs to the process, not to a handle: a process without its store can still act.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use baton_core::ids::{BootId, Namespace};
use rusqlite::Connection;

use super::boots::{Boots, Folder};
use super::busy_handler;
use super::file_identity::FileId;
use super::machine::Machine;

/// A lock of this process, and where its boot has beaten.
struct ProcessLock {
    file: File,
    namespaces: BTreeSet<Namespace>,
}

type Locks = BTreeMap<(PathBuf, BootId), ProcessLock>;

/// Every lock of this process.
static LOCKS: Mutex<Locks> = Mutex::new(BTreeMap::new());

/// A draft may be swept away before it is locked; then another is made.
const TRIES: u32 = 5;

/// Before another draft is made.
const PAUSE: Duration = Duration::from_micros(500);

fn locks() -> MutexGuard<'static, Locks> {
    LOCKS.lock().expect("no holder of this lock panics")
}

fn is_held(boots: &Boots, boot: BootId) -> bool {
    locks().contains_key(&(boots.path.clone(), boot))
}

/// Every lock that this process has for the boot, duplicated. As long as a duplicate is open, in
/// this process or in one that it was handed to, the boot is not taken for dead.
pub fn process_locks(boot: BootId) -> Vec<OwnedFd> {
    let locks = locks();
    let of_boot = locks.iter().filter(|((_, owner), _)| *owner == boot);
    of_boot.filter_map(|(_, held)| held.file.try_clone().ok()).map(OwnedFd::from).collect()
}

/// Sees to it that this process has a lock for the boot, which is about to beat in the namespace.
pub(super) fn hold(
    boots: &Boots,
    boot: BootId,
    namespace: &Namespace,
    machine: &Machine,
) -> io::Result<()> {
    let mut locks = locks();
    let key = (boots.path.clone(), boot);
    if let Some(held) = locks.get_mut(&key) {
        held.namespaces.insert(namespace.clone());
        return Ok(());
    }
    let file = locked(boots, boot, machine)?;
    locks.insert(key, ProcessLock { file, namespaces: [namespace.clone()].into() });
    Ok(())
}

/// The boot has left the namespace. After its last one, its lock ends.
pub(super) fn release(boots: &Boots, boot: BootId, namespace: &Namespace) {
    let mut locks = locks();
    let key = (boots.path.clone(), boot);
    let Some(held) = locks.get_mut(&key) else { return };
    held.namespaces.remove(namespace);
    if held.namespaces.is_empty() {
        // The name goes first: a file that is there without its lock proves a death.
        let gone = boots.look().and_then(|folder| folder.remove(&boot.to_string()));
        if gone.is_ok() || gone.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            locks.remove(&key);
        }
    }
}

/// Is the process of this boot known to be gone?
pub(super) fn is_dead(boots: &Boots, boot: BootId, machine: &Machine) -> bool {
    let abandoned =
        || boots.look().and_then(|folder| is_abandoned(&folder, &boot.to_string(), machine));
    !is_held(boots, boot) && abandoned().unwrap_or(false)
}

/// Is the process of this boot known to live, by the lock that it holds?
pub(super) fn is_alive(boots: &Boots, boot: BootId) -> bool {
    let locked = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    is_held(boots, boot)
        || boots.look().and_then(|folder| folder.open(&boot.to_string())).is_ok_and(locked)
}

/// Has the lock on this file ended with the process that had it? A copy of the file never had it.
fn is_abandoned(folder: &Folder, name: &str, machine: &Machine) -> io::Result<bool> {
    let mut file = folder.open(name)?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut said = String::new();
    file.read_to_string(&mut said)?;
    let itself = FileId::of(&file.metadata()?);
    // A process that lets its lock go while it lives takes the name away first.
    let named = FileId::of(&folder.open(name)?.metadata()?);
    Ok(said == stamp(itself, machine) && named == itself)
}

/// Removes the locks of dead processes that nothing speaks of any more, and forgotten drafts.
pub(super) fn sweep(conn: &Connection, boots: &Boots) -> rusqlite::Result<()> {
    let Ok(folder) = boots.look() else { return Ok(()) };
    for name in folder.names().unwrap_or_default() {
        let unused = match boot_of(&name) {
            Some(boot) if is_held(boots, boot) => false,
            Some(boot) => is_unlocked(&folder, &name) && !is_spoken_of(conn, boot)?,
            None => name.starts_with(".draft-") && is_unlocked(&folder, &name),
        };
        if unused {
            // Another process may sweep too.
            let _ = folder.remove(&name);
        }
    }
    Ok(())
}

fn is_unlocked(folder: &Folder, name: &str) -> bool {
    folder.open(name).is_ok_and(|file| file.try_lock_shared().is_ok())
}

fn is_spoken_of(conn: &Connection, boot: BootId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM baton_nodes WHERE boot = ?1) \
               OR EXISTS (SELECT 1 FROM baton_locks WHERE owner_boot = ?1)";
    conn.query_row(sql, [boot.to_string()], |row| row.get(0))
}

/// A new file with this name, which was locked before it got it.
fn locked(boots: &Boots, boot: BootId, machine: &Machine) -> io::Result<File> {
    let draft = format!(".draft-{boot}-{}", std::process::id());
    // Did a process that sweeps come between?
    let is_swept =
        |it: &io::Error| matches!(it.kind(), ErrorKind::NotFound | ErrorKind::WouldBlock);
    for _ in 1..TRIES {
        match drafted(&boots.make()?, &draft, &boot.to_string(), machine) {
            Err(error) if is_swept(&error) => busy_handler::wait(PAUSE),
            done => return done,
        }
    }
    drafted(&boots.make()?, &draft, &boot.to_string(), machine)
}

fn drafted(folder: &Folder, draft: &str, name: &str, machine: &Machine) -> io::Result<File> {
    let mut file = folder.create(draft)?;
    file.try_lock().map_err(io::Error::from)?;
    file.write_all(stamp(FileId::of(&file.metadata()?), machine).as_bytes())?;
    folder.rename(draft, name)?;
    Ok(file)
}

/// What a lock file says of itself: which file it is, in which boot of the machine.
fn stamp(file: FileId, machine: &Machine) -> String {
    let FileId { device, inode, born } = file;
    format!("{device} {inode} {born} {}\n", machine.boot)
}

fn boot_of(name: &str) -> Option<BootId> {
    let whole = name.len() == 32;
    whole.then(|| BootId::try_from(name.to_owned()).ok()).flatten()
}
