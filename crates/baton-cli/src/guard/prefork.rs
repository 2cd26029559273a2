//! A process that waits to become a command.
//!
//! The guard starts this very program again, which ties itself to the guard's life and then turns
//! into the command by `exec`. That takes longer than anything else about starting a command, so
//! the guard has it done between terms: a term's command begins with a message.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, waitpid,
};

use super::channel::Channel;
use super::message::{Order, Start};
use crate::output::log;

/// This very program, even if another has been installed in its place meanwhile.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// What the guard, or the process that waits to become the command, calls itself, whose parent this
/// is. Nothing that looks for "baton" in command lines finds it.
pub(super) fn name(parent: Pid) -> String {
    format!("guard-of-{}", parent.as_raw_nonzero())
}

/// A process that leads a group of its own and waits. It ends when no process holds the other end
/// of its channel.
pub(super) struct Prefork {
    pid: Pid,
    /// Readable when the process has ended.
    exit: OwnedFd,
    channel: Channel,
}

impl Prefork {
    /// Starts one.
    pub(super) fn start() -> io::Result<Self> {
        let (channel, theirs) = Channel::pair()?;
        let mut process = Command::new(THIS_PROGRAM)
            .arg0(name(getpid()))
            .arg("guard")
            .args(log::argument())
            .stdin(Stdio::from(theirs))
            .process_group(0)
            .spawn()?;
        let pid = Pid::from_child(&process);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(exit) => Ok(Self { pid, exit, channel }),
            Err(error) => {
                process.kill()?;
                process.wait()?;
                Err(error.into())
            }
        }
    }

    /// Does it still wait? Any process may have killed it.
    pub(super) fn is_running(&self) -> bool {
        let mut exit = [PollFd::new(&self.exit, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(poll(&mut exit, Some(&at_once)), Ok(0))
    }

    /// Has it become the command. What is left is its process id, what becomes readable at its end,
    /// and the socket that closes when the command runs, or says why it does not.
    pub(super) fn run(
        mut self,
        start: Start,
        stdin: BorrowedFd<'_>,
    ) -> io::Result<(Pid, OwnedFd, Channel)> {
        let guard = getpid().as_raw_nonzero().get();
        match self.channel.send_with(&Order::Become { start, guard }, &[stdin]) {
            Ok(()) => Ok((self.pid, self.exit, self.channel)),
            Err(error) => {
                self.kill();
                Err(error)
            }
        }
    }

    /// Ends it, and returns when it is gone.
    pub(super) fn kill(self) {
        // It was not waited for: the number is still its own.
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = waitpid(Some(self.pid), WaitOptions::empty());
    }
}
