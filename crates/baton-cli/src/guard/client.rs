//! Baton's side: a handle on the guard process.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::lease::Window;
use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use super::channel::{Channel, MOST_DESCRIPTORS, Received};
use super::child::{THIS_PROGRAM, guard_command};
use super::deadline::Deadline;
use super::message::{Answer, Order, Report, Start};
use super::sweep::sweep_children;

/// How long a guard without a command takes to end, at the most, on a busy machine.
const ENDS_WITHIN: Duration = Duration::from_millis(100);

/// Time between two looks at whether the guard has ended.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The guards of this process that were not waited for, by process id. A sweep spares them.
static GUARDS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

pub(super) fn guards() -> MutexGuard<'static, BTreeSet<i32>> {
    // A set of numbers is whole whatever happened to the thread that held the lock.
    GUARDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A guard process, and through it the command of one term after another.
///
/// Call [`start`](Self::start), then [`next`](Self::next) until it says [`Report::Stopped`], then
/// perhaps `start` again. Orders are sent without waiting; what does not fit into the socket goes
/// out with `next`. That the guard died is only ever said by `next`. Dropping the handle closes the
/// socket, upon which the guard kills everything and ends; [`close`](Self::close) waits for that.
pub struct Guard {
    channel: Channel,
    /// The channel's socket once more, for the runtime to watch.
    signs: UnixStream,
    process: Option<Child>,
    pid: i32,
    /// The running term's deadlines, in case the guard does not keep them.
    term: Option<Deadline>,
    sweep: Option<JoinHandle<String>>,
    lost: Option<String>,
}

impl Guard {
    /// Starts a guard, which holds duplicates of `held` as long as it lives, and passes this
    /// process's standard input on to commands. Must be called within a tokio runtime.
    ///
    /// A duplicate keeps a port bound, and a file locked by `flock` or an open-file-description
    /// lock. It does not keep a record lock of the older kind, which belongs to the process.
    pub fn spawn(held: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Self::spawn_without_input(held);
        }
        Self::spawn_as(Path::new(THIS_PROGRAM), stdin.as_fd(), held)
    }

    /// The same, for commands without standard input: those that run beside each other.
    pub fn spawn_without_input(held: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let nothing = std::fs::File::open("/dev/null")?;
        Self::spawn_as(Path::new(THIS_PROGRAM), nothing.as_fd(), held)
    }

    /// Starts a guard that is another executable than this one, for commands with another standard
    /// input than this process's.
    pub fn spawn_as(
        executable: &Path,
        stdin: BorrowedFd<'_>,
        held: &[BorrowedFd<'_>],
    ) -> io::Result<Self> {
        if held.len() >= MOST_DESCRIPTORS {
            let (given, most) = (held.len(), MOST_DESCRIPTORS - 1);
            let text = format!("the guard can hold {most} descriptors, not {given}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        // What a dying guard leaves behind must come to this process, to no other.
        set_child_subreaper(Some(getpid()))?;
        let (mut channel, theirs) = Channel::pair()?;
        let descriptors: Vec<_> = [stdin].into_iter().chain(held.iter().copied()).collect();
        channel.send_with(&Order::Hold, &descriptors)?;
        let signs = std::os::unix::net::UnixStream::from(channel.as_fd().try_clone_to_owned()?);
        signs.set_nonblocking(true)?;
        let signs = UnixStream::from_std(signs)?;
        let process = spawn_process(executable, theirs)?;
        let pid = Pid::from_child(&process).as_raw_nonzero().get();
        let (process, term, sweep, lost) = (Some(process), None, None, None);
        Ok(Self { channel, signs, process, pid, term, sweep, lost })
    }

    /// The guard's process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Was its loss reported? Then it is of no more use.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Runs a command. Refused while the last one was not reported [`Report::Stopped`].
    pub fn start(&mut self, start: Start) -> io::Result<()> {
        if self.term.is_some() {
            let text = "the last command has not stopped; wait for its end first";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let deadline = Deadline::new(start.window);
        self.order(&Order::Start(start))?;
        self.term = Some(deadline);
        Ok(())
    }

    /// The lease was renewed. Nothing happens if no command runs.
    ///
    /// It counts once the guard has said that it took it in. A guard that says nothing, because it
    /// is stopped, is lost at the end of the last window that it knows of, though later ones exist.
    pub fn extend(&mut self, window: Window) -> io::Result<()> {
        if self.term.is_none() {
            return Ok(());
        }
        self.order(&Order::Extend(window))
    }

    /// Ends the term: TERM now, and KILL in time for everything to be gone by `by`. Nothing happens
    /// if no command runs.
    pub fn stop(&mut self, by: Moment) -> io::Result<()> {
        let Some(term) = &mut self.term else {
            return Ok(());
        };
        term.stop(by);
        self.order(&Order::Stop { by })
    }

    /// Passes a signal on to the command's process group.
    pub fn signal(&mut self, number: i32) -> io::Result<()> {
        if Signal::from_named_raw(number).is_none() {
            let text = format!("{number} is not the number of a signal that can be passed on");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.order(&Order::Signal { number })
    }

    /// The next report. It may be given up waiting for at any point; nothing is lost by that.
    ///
    /// A guard that does not keep a deadline is killed here, in the middle of what the guard keeps
    /// as its margin, and everything of the term with it.
    pub async fn next(&mut self) -> Report {
        loop {
            if let Some(how) = &self.lost {
                return Report::Lost { how: how.clone() };
            }
            if let Some(sweep) = &mut self.sweep {
                let how = sweep.await;
                self.sweep = None;
                self.lost = Some(how.unwrap_or_else(|error| error.to_string()));
                self.term = None;
                continue;
            }
            match self.channel.take() {
                Ok(Some(Answer::Extended(window))) => {
                    if let Some(term) = &mut self.term {
                        term.extend(window);
                    }
                }
                Ok(Some(Answer::Report(report))) => {
                    if report == Report::Stopped {
                        self.term = None;
                    }
                    return report;
                }
                Ok(None) if self.readable().await == Received::Data => {}
                Ok(None) | Err(_) => self.give_up(),
            }
        }
    }

    /// Ends the guard and whatever runs, and returns when all of it is gone. A guard without a
    /// command that does not end, because it is stopped, is killed.
    pub async fn close(mut self) -> io::Result<()> {
        while self.sweep.is_some() {
            self.next().await;
        }
        let (process, pid, is_idle) = (self.process.take(), self.pid, self.term.is_none());
        drop(self);
        let Some(mut process) = process else {
            return Ok(());
        };
        let kill_at = SystemClock.now() + ENDS_WITHIN;
        while process.try_wait()?.is_none() {
            if is_idle && SystemClock.now() >= kill_at {
                process.kill()?;
            }
            SystemClock.sleep(LOOK_EVERY).await;
        }
        guards().remove(&pid);
        Ok(())
    }

    fn order(&mut self, order: &Order) -> io::Result<()> {
        match self.channel.send(order) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(error),
            // The guard is gone. What it had said before and what became of it, `next` tells.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Waits for the guard to say something, and passes on what it has not taken yet. `End` if it
    /// is gone, or as good as gone.
    async fn readable(&mut self) -> Received {
        let last_resort = self.term.as_ref().map(Deadline::last_resort);
        loop {
            let readable = Interest::READABLE;
            let has_unsent = self.channel.has_unsent();
            let either = if has_unsent { readable | Interest::WRITABLE } else { readable };
            let ready = tokio::select! {
                ready = self.signs.ready(either) => ready,
                () = reached(last_resort) => {
                    // If this process was paused, the guard may have kept the deadline long since.
                    return self.channel.receive().unwrap_or(Received::Closed);
                }
            };
            if has_unsent {
                // If it fails because the guard is gone, listening says so.
                let _ = self.signs.try_io(Interest::WRITABLE, || {
                    self.channel.flush()?;
                    if self.channel.has_unsent() { not_yet() } else { Ok(()) }
                });
            }
            let received = self.signs.try_io(readable, || match self.channel.receive()? {
                Received::Nothing => not_yet(),
                received => Ok(received),
            });
            match (ready, received) {
                (Ok(_), Ok(received)) => return received,
                (Ok(_), Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return Received::Closed,
            }
        }
    }

    /// Makes sure that the guard is dead, and then that everything it had started is.
    fn give_up(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        let pid = self.pid;
        self.sweep = Some(tokio::task::spawn_blocking(move || {
            // It fails if the guard is dead, which is what is wanted.
            let _ = process.kill();
            let ended = process.wait();
            let spare = {
                let mut guards = guards();
                guards.remove(&pid);
                guards.clone()
            };
            sweep_children(&spare);
            ended.map_or_else(|error| error.to_string(), |status| status.to_string())
        }));
    }
}

/// Starts the process and notes it in one step, so that no sweep comes in between.
fn spawn_process(executable: &Path, control: OwnedFd) -> io::Result<Child> {
    let mut guards = guards();
    let process = guard_command(executable, control).spawn()?;
    guards.insert(Pid::from_child(&process).as_raw_nonzero().get());
    Ok(process)
}

/// Makes the runtime wait for the next sign.
fn not_yet<T>() -> io::Result<T> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Waits until this moment has come; forever if there is none.
async fn reached(moment: Option<Moment>) {
    let Some(moment) = moment else {
        return pending().await;
    };
    SystemClock.sleep(moment.since(SystemClock.now())).await;
}
