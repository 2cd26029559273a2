//! Finding and killing whatever descends from this process, until nothing is left.
//!
//! A process that ends hands its children to the nearest subreaper above it. So as long as anything
//! descends from a subreaper, it has a child, which stays in `/proc` until it is waited for; and a
//! look through `/proc` that finds no child proves that nothing was left when it began.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, pidfd_open,
    wait, waitpid,
};
use tokio::signal::unix::{SignalKind, signal};

use super::client::guards;

/// How long to wait before looking again, if nothing else says that something ended.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A child of this process, by birth or by adoption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    pid: Pid,
    group: i32,
    session: i32,
}

impl Descendant {
    /// Its process group, unless that is the one of this process. The number cannot have passed to
    /// another group: the child is in this one, dead or alive, until this process waits for it.
    fn foreign_group(&self) -> Option<Pid> {
        Pid::from_raw(self.group).filter(|group| *group != rustix::process::getpgrp())
    }

    /// Whom [`signal`](Self::signal) reaches: children with the same number are reached at once.
    pub(super) fn address(&self) -> i32 {
        self.foreign_group().unwrap_or(self.pid).as_raw_nonzero().get()
    }

    /// Sends a signal to the child, and to its whole process group if that is not our own.
    pub(super) fn signal(&self, signal: Signal) {
        // That it cannot be reached (it just ended, or belongs to another user) shows when it is
        // waited for.
        let _ = match self.foreign_group() {
            Some(group) => kill_process_group(group, signal),
            None => kill_process(self.pid, signal),
        };
    }

    /// A descriptor that becomes readable when the child ends.
    pub(super) fn exit(&self) -> Option<OwnedFd> {
        pidfd_open(self.pid, PidfdFlags::empty()).ok()
    }
}

/// The children of this process, those that ended and were not waited for among them.
pub(super) fn descendants() -> io::Result<Vec<Descendant>> {
    let this = rustix::process::getpid().as_raw_nonzero().get();
    let mut descendants = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(name) =
            name.to_str().filter(|name| name.starts_with(|c: char| c.is_ascii_digit()))
        else {
            continue;
        };
        match fs::read(format!("/proc/{name}/stat")) {
            Ok(stat) => {
                let read = parse(&String::from_utf8_lossy(&stat));
                descendants.extend(
                    read.filter(|(parent, _)| *parent == this).map(|(_, descendants)| descendants),
                );
            }
            // It ended meanwhile, or is another user's.
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(descendants)
}

/// The parent's process id and the rest, from a line such as `12 (name) S 1 12 12 …`. The name may
/// hold anything, parentheses and spaces too.
fn parse(stat: &str) -> Option<(i32, Descendant)> {
    let pid = Pid::from_raw(stat.split(' ').next()?.parse().ok()?)?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
    let mut next = || fields.next()?.parse::<i32>().ok();
    let (parent, group, session) = (next()?, next()?, next()?);
    Some((parent, Descendant { pid, group, session }))
}

/// Waits for every child that has ended, and says whether any is left.
pub(super) fn reap(mut note: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => note(pid, status),
            Ok(None) => return true,
            Err(Errno::CHILD) => return false,
            Err(_) => {}
        }
    }
}

/// Kills and waits for every child and whatever comes to light behind it, until none is left.
pub(super) fn kill_all(mut note: impl FnMut(Pid, WaitStatus)) {
    while reap(&mut note) {
        let descendants = descendants().unwrap_or_default();
        descendants.iter().for_each(|descendants| descendants.signal(Signal::KILL));
        wait_for_one(&descendants);
    }
}

/// Held by the thread that signals children, or waits for them, by their numbers: a number that
/// another thread has waited for may be another process's.
static NUMBERS: Mutex<()> = Mutex::new(());

fn numbers() -> MutexGuard<'static, ()> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for each child that has ended and is not a guard, as long as this is awaited. Process 1 of
/// a container inherits every process there whose parent has ended, and has to wait for each, or
/// its entry stays for ever.
pub async fn reap_orphans() -> Infallible {
    let Ok(mut ended) = signal(SignalKind::child()) else {
        // Without signals nothing else of baton works either, and says so.
        return pending().await;
    };
    loop {
        let reap = || {
            let _numbers = numbers();
            // A guard is noted in the same step that starts it, and its handle waits for it.
            let guards = guards();
            for child in descendants().unwrap_or_default() {
                if !guards.contains(&child.pid.as_raw_nonzero().get()) {
                    let _ = waitpid(Some(child.pid), WaitOptions::NOHANG);
                }
            }
        };
        // A look that failed is made up for by the next.
        let _ = tokio::task::spawn_blocking(reap).await;
        if ended.recv().await.is_none() {
            return pending().await;
        }
    }
}

/// Kills everything that a guard which died left to this process, and returns when it is gone.
///
/// A guard leads a session of its own: children of this process in its own session are its own and
/// are let alone. So are those in `spare`: guards that still live.
pub fn sweep_children(spare: &BTreeSet<i32>) {
    loop {
        let _numbers = numbers();
        let Ok(left) = left_to_us(spare) else {
            wait_for_one(&[]);
            continue;
        };
        if left.is_empty() {
            return;
        }
        left.iter().for_each(|descendants| descendants.signal(Signal::KILL));
        wait_for_one(&left);
        for descendants in left {
            let _ = waitpid(Some(descendants.pid), WaitOptions::NOHANG);
        }
    }
}

fn left_to_us(spare: &BTreeSet<i32>) -> io::Result<Vec<Descendant>> {
    let (_, this) = parse(&fs::read_to_string("/proc/self/stat")?)
        .ok_or_else(|| io::Error::other("/proc/self/stat has an unexpected form"))?;
    let is_left = |descendants: &Descendant| {
        descendants.session != this.session
            && !spare.contains(&descendants.pid.as_raw_nonzero().get())
    };
    Ok(descendants()?.into_iter().filter(is_left).collect())
}

fn wait_for_one(descendants: &[Descendant]) {
    let exits: Vec<OwnedFd> = descendants.iter().filter_map(Descendant::exit).collect();
    wait_briefly(&exits);
}

/// Waits until one of these ends, but not for long.
pub(super) fn wait_briefly(exits: &[OwnedFd]) {
    let mut fds: Vec<PollFd<'_>> = exits.iter().map(|e| PollFd::new(e, PollFlags::IN)).collect();
    // An interruption is as good as a wake-up: the caller looks again either way.
    let _ = poll(&mut fds, Some(&LOOK_AGAIN));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let (parent, descendants) =
            parse("42 (a) S 9 (b) S 7 41 40 0 -1 4194560").expect("a valid line");
        assert_eq!(parent, 7);
        assert_eq!(
            (descendants.pid.as_raw_nonzero().get(), descendants.group, descendants.session),
            (42, 41, 40)
        );
        assert_eq!(parse("42 (a) S"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn children_are_found_until_they_are_waited_for() {
        let mut child = Command::new("true").spawn().expect("`true` is everywhere");
        let pid = Pid::from_child(&child);
        let is_there = || {
            descendants().expect("/proc is there").iter().any(|descendants| descendants.pid == pid)
        };
        assert!(is_there());
        child.wait().expect("it is ours");
        assert!(!is_there());
    }

    #[test]
    fn children_of_our_own_session_are_let_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("`sleep` is everywhere");
        sweep_children(&BTreeSet::new());
        assert_eq!(child.try_wait().expect("it is ours"), None);
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
    }
}
