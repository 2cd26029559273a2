//! The command of one term: first a process that waits to become it, then what is known of it.
//!
//! The guard starts this very program again, which ties itself to the guard's life and then turns
//! into the command by `exec`. That takes longer than anything else about starting a command, so
//! the guard has it done between terms: a term's command begins with a message. The socket between
//! the two closes with the `exec`: its end says that the command runs, a message says why it does
//! not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    kill_process_group, pidfd_open, set_parent_process_death_signal, waitpid,
};

use super::channel::{Channel, Received};
use super::message::{Ending, Order, Report, Start};
use super::sweep;
use crate::output::log;

/// This very program, even if another has been installed in its place meanwhile.
pub(super) const THIS_PROGRAM: &str = "/proc/self/exe";

/// What starts the guard, or the process that waits to become the command. Nothing that looks for
/// "baton" in command lines finds either.
pub(super) fn guard_command(executable: &Path, control: OwnedFd) -> Command {
    let mut command = Command::new(executable);
    command.arg0(format!("guard-of-{}", getpid().as_raw_nonzero()));
    command.arg("guard").args(log::argument()).stdin(Stdio::from(control));
    command
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
        let mut process =
            guard_command(Path::new(THIS_PROGRAM), theirs).process_group(0).spawn()?;
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

    /// Has it become the command, with this standard input.
    pub(super) fn run(mut self, start: Start, stdin: BorrowedFd<'_>) -> io::Result<Child> {
        let guard = getpid().as_raw_nonzero().get();
        match self.channel.send_with(&Order::Become { start, guard }, &[stdin]) {
            Ok(()) => {
                let (exit, launch) = (Some(self.exit), Some(self.channel));
                Ok(Child { pid: self.pid, exit, launch, failure: None, ending: None })
            }
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

/// The command's first process, which leads its process group.
pub(super) struct Child {
    pid: Pid,
    /// Readable when the process has ended; `None` once it was waited for.
    exit: Option<OwnedFd>,
    /// Open until it is known whether the command runs.
    launch: Option<Channel>,
    failure: Option<String>,
    ending: Option<Ending>,
}

impl Child {
    /// Receives whether the command runs, and returns that once.
    pub(super) fn launch_report(&mut self) -> Option<Report> {
        let launch = self.launch.as_mut()?;
        loop {
            // A process that died unheard is seen by its end.
            let _ = launch.flush();
            match launch.receive() {
                Ok(Received::Data) => {}
                Ok(Received::Nothing) => return None,
                Ok(Received::Closed) | Err(_) => break,
            }
            if let Ok(Some(Report::FailedToStart { error })) = launch.take() {
                self.failure = Some(error);
            }
        }
        self.launch = None;
        let pid = self.pid.as_raw_nonzero().get();
        Some(match self.failure.clone() {
            Some(error) => Report::FailedToStart { error },
            None => Report::Started { pid },
        })
    }

    /// Waits for whatever of the term has ended. Is anything left?
    pub(super) fn reap(&mut self) -> bool {
        sweep::reap(|pid, status| self.note(pid, status))
    }

    /// Kills everything of the term and waits for its end.
    pub(super) fn kill_all(&mut self) {
        self.signal(Signal::KILL);
        // Mostly this is all, and no other process has to be looked for.
        sweep::wait_briefly(self.exit.as_slice());
        sweep::kill_all(|pid, status| self.note(pid, status));
    }

    fn note(&mut self, pid: Pid, status: WaitStatus) {
        if pid != self.pid {
            return;
        }
        self.exit = None;
        let signal = status.terminating_signal().map(Ending::Signal);
        let code = Ending::Code(status.exit_status().unwrap_or_default());
        self.ending = Some(signal.unwrap_or(code));
    }

    /// Sends a signal to the process group, which is certainly the command's own only as long as
    /// its leader was not waited for.
    pub(super) fn signal(&self, signal: Signal) {
        if self.exit.is_some() {
            // It fails if every process in it has ended, which is as well.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// The process group's number, which is the first process's too.
    pub(super) fn group(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// How the command ended, if it has and if it ever ran.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.filter(|_| self.failure.is_none())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// What tells of the first process's end.
    pub(super) fn exit(&self) -> Option<BorrowedFd<'_>> {
        self.exit.as_ref().map(AsFd::as_fd)
    }

    /// What tells of the command's start, and whether there is still something to be said to it.
    pub(super) fn launching(&self) -> Option<(BorrowedFd<'_>, bool)> {
        self.launch.as_ref().map(|launch| (launch.as_fd(), launch.has_unsent()))
    }
}

/// Turns this process into the command. Returns only if that fails, after telling the guard why.
pub(super) fn become_command(mut launch: Channel, start: Start, guard: i32) -> io::Result<()> {
    let stdin = launch.take_descriptors().pop();
    let stdin = stdin.ok_or_else(|| io::Error::other("no standard input came with the order"))?;
    // If the guard is killed, the kernel kills the command. The signal is not sent for a guard that
    // was dead already.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != guard) {
        return Ok(());
    }
    let error = Command::new(&start.program)
        .args(&start.args)
        .envs(start.env)
        .stdin(Stdio::from(stdin))
        .exec();
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "; is it installed, and is its folder in PATH?",
        io::ErrorKind::PermissionDenied => "; is it a file that this user may execute?",
        _ => "",
    };
    let error = format!("cannot start {}: {error}{advice}", start.program.display());
    launch.send(&Report::FailedToStart { error })
}
