//! The guard's own loop: orders, deadlines and ends, one at a time, asleep in between.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use baton_core::time::Moment;
use baton_store::clock::{Clock, LeapWatch, SystemClock};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper, setsid};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::signal::unix::{SignalKind, signal};

use super::channel::{Channel, Received};
use super::child::{Prefork, become_command};
use super::deadline::Deadline;
use super::message::{Answer, Order, Report, Start};
use super::term::Term;
use crate::output::log;

/// What `baton guard` does. Its standard input is the control socket; the first order on it says
/// whether this process is the guard or about to become the command.
pub fn run() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error(&format!("guard: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    // For the list of processes. `pkill baton` must not find it: the guard ends last.
    let _ = std::fs::write("/proc/self/comm", "guard");
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let mut channel = Channel::over(socket);
    match first_order(&mut channel)? {
        Some(Order::Hold) => EventLoop::new(channel)?.run(),
        Some(Order::Become { start, guard }) => become_command(channel, start, guard),
        Some(order) => Err(out_of_turn(&order)),
        None => Ok(()),
    }
}

fn first_order(channel: &mut Channel) -> io::Result<Option<Order>> {
    loop {
        if let Some(order) = channel.take()? {
            return Ok(Some(order));
        }
        let mut event = [PollFd::new(channel, PollFlags::IN)];
        rustix::io::retry_on_intr(|| poll(&mut event, None))?;
        let received = channel.receive().map_err(|error| {
            let text = "standard input is no control socket; `baton run` starts this, not you";
            io::Error::new(error.kind(), format!("{text} ({error})"))
        });
        if received? == Received::Closed {
            return Ok(None);
        }
    }
}

fn out_of_turn(order: &Order) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unexpected order: {order:?}"))
}

/// The guard.
struct EventLoop {
    baton: Channel,
    timer: OwnedFd,
    /// Wakes the guard when the wall clock is set.
    clock_set: OwnedFd,
    leaps: LeapWatch,
    stdin: OwnedFd,
    /// Only kept open: as long as they are, no node takes this process's baton for dead.
    _held: Vec<OwnedFd>,
    term: Option<Term>,
    prefork: Option<Prefork>,
}

impl EventLoop {
    fn new(mut baton: Channel) -> io::Result<Self> {
        let mut descriptors = baton.take_descriptors().into_iter();
        let stdin = descriptors.next();
        let stdin = stdin.ok_or_else(|| io::Error::other("no standard input came to hold"))?;
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC)?;
        set_child_subreaper(Some(getpid()))?;
        setsid()?;
        ignore_signals()?;
        let (term, prefork) = (None, None);
        let clock_set = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC)?;
        watch_clock(&clock_set)?;
        let leaps = LeapWatch::new(&SystemClock);
        let _held = descriptors.collect();
        Ok(Self { baton, timer, clock_set, leaps, stdin, _held, term, prefork })
    }

    /// Serves until baton is gone, then leaves nothing behind. Between terms there is nothing but a
    /// prefork: that is what ends one.
    fn run(mut self) -> io::Result<()> {
        let served = self.serve();
        if let Some(term) = &mut self.term {
            term.child.kill_all();
        }
        if let Some(prefork) = self.prefork.take() {
            prefork.kill();
        }
        match served {
            // Baton ended without a message, so there is no process to report to.
            Err(error) if is_hang_up(&error) => Ok(()),
            served => served,
        }
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            while let Some(order) = self.baton.take()? {
                self.handle_order(order)?;
            }
            self.advance()?;
            if self.has_baton_gone()? || self.baton.receive()? == Received::Closed {
                return Ok(());
            }
        }
    }

    fn handle_order(&mut self, order: Order) -> io::Result<()> {
        match (order, &mut self.term) {
            (Order::Start(start), None) => self.start(start)?,
            (Order::Extend(window), Some(term)) => {
                term.deadline.extend(window);
                self.baton.send(&Answer::Extended(window))?;
            }
            (Order::Stop { by }, Some(term)) => term.deadline.stop(by),
            (Order::Signal { number }, Some(term)) => {
                if let Some(signal) = Signal::from_named_raw(number) {
                    term.child.signal(signal);
                }
            }
            // Sent before baton knew that the term is over.
            (Order::Extend(_) | Order::Stop { .. } | Order::Signal { .. }, None) => {}
            // A sender of this has lost track of the term. To stop everything is never wrong.
            (order, _) => return Err(out_of_turn(&order)),
        }
        Ok(())
    }

    fn start(&mut self, start: Start) -> io::Result<()> {
        let now = SystemClock.now();
        let (window, program) = (start.window, start.program.clone());
        let launched = if window.may_start(now) {
            let ready = self.prefork.take().filter(Prefork::is_running);
            let prefork = ready.map_or_else(Prefork::start, Ok);
            let child = prefork.and_then(|prefork| prefork.run(start, self.stdin.as_fd()));
            child.map_err(|error| error.to_string())
        } else {
            let late = now.since(window.soft).as_millis();
            Err(format!("its trust window closed for new work {late} ms ago"))
        };
        match launched {
            Ok(child) => self.term = Some(Term::new(child, Deadline::new(window))),
            Err(reason) => {
                let error = format!("cannot start {}: {reason}", program.display());
                self.baton.send(&Answer::Report(Report::FailedToStart { error }))?;
                self.baton.send(&Answer::Report(Report::Stopped))?;
            }
        }
        Ok(())
    }

    /// Minds the term, and sets the timer for the next time that is needed.
    fn advance(&mut self) -> io::Result<()> {
        // The orders that came before this were sent before the machine stood still, or since.
        let leapt = self.leaps.look(&SystemClock);
        if let Some((term, span)) = self.term.as_mut().zip(leapt) {
            term.deadline.shorten(span);
        }
        let mut wake = None;
        if let Some(term) = &mut self.term {
            wake = term.advance(SystemClock.now(), &mut self.baton)?;
        }
        if wake.is_none() {
            self.term = None;
            self.baton.flush()?;
            // Without one the next command starts a little later.
            self.prefork = self.prefork.take().or_else(|| Prefork::start().ok());
        }
        let wake = wake.unwrap_or(Moment::NEVER);
        let micros = i64::try_from(wake.as_micros()).unwrap_or(i64::MAX);
        let (tv_sec, tv_nsec) = (micros / 1_000_000, (micros % 1_000_000) * 1_000);
        let it_value = Timespec { tv_sec, tv_nsec };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Sleeps until something happens. Was it that baton ended?
    fn has_baton_gone(&mut self) -> io::Result<bool> {
        self.baton.flush()?;
        let out = if self.baton.has_unsent() { PollFlags::OUT } else { PollFlags::empty() };
        let mut events = vec![
            PollFd::new(&self.baton, PollFlags::IN | out),
            PollFd::new(&self.timer, PollFlags::IN),
            PollFd::new(&self.clock_set, PollFlags::IN),
        ];
        events.extend(self.term.iter().flat_map(Term::events));
        match poll(&mut events, None) {
            Ok(_) => {
                if events[2].revents().contains(PollFlags::IN) {
                    watch_clock(&self.clock_set)?;
                }
                Ok(events[0].revents().contains(PollFlags::HUP))
            }
            // A child ended, most likely: time to look.
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Sets the timer to a moment that never comes, to be called off when the wall clock is set.
fn watch_clock(timer: &OwnedFd) -> io::Result<()> {
    let it_value = Timespec { tv_sec: i64::MAX / 1_000_000_000, tv_nsec: 0 };
    let never = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
    let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(timer, flags, &never)?;
    Ok(())
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Catches the signals that people and service managers send to every process, so that they end
/// neither the guard nor, by inheritance, are ignored by the command. A child's end only wakes the
/// loop.
fn ignore_signals() -> io::Result<()> {
    // The handlers stay when the runtime, which never runs anything, is gone.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
        SignalKind::alarm(),
        SignalKind::child(),
    ] {
        drop(signal(kind)?);
    }
    Ok(())
}
