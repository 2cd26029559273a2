//! Linux: timers of the kernel, which count suspend and hear when the wall clock is set.

use std::os::fd::OwnedFd;

use baton_core::time::Moment;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// Rings at a moment of the boot-time clock, also if that passed while the machine slept.
pub struct Alarm {
    timer: AsyncFd<OwnedFd>,
    set_to: Option<Moment>,
}

impl Alarm {
    #[expect(
        deprecated,
        reason = "unsound for types that may close their descriptor; an `OwnedFd` cannot"
    )]
    pub fn new() -> std::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = AsyncFd::new(timerfd_create(TimerfdClockId::Boottime, flags)?)?;
        Ok(Self { timer, set_to: None })
    }

    /// Waits until the moment has come; for ever if there is none. Cancel safe.
    pub async fn ring_at(&mut self, moment: Option<Moment>) {
        let Some(moment) = moment else { return std::future::pending().await };
        if self.set_to != Some(moment) {
            self.set(moment);
        }
        // It stays readable until it is set anew, which the next moment does.
        let ready = self.timer.readable().await;
        ready.expect("the runtime outlives the alarm").clear_ready();
        self.set_to = None;
    }

    fn set(&mut self, moment: Moment) {
        // A timer set to nothing at all is switched off: the earliest moment is a nanosecond.
        let micros = i64::try_from(moment.as_micros()).unwrap_or(i64::MAX);
        let (tv_sec, tv_nsec) = (micros / 1_000_000, micros % 1_000_000 * 1_000);
        let it_value = Timespec { tv_sec, tv_nsec: tv_nsec.max(1) };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Itimerspec { it_interval, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value)
            .expect("the moment is a valid time and the descriptor is a timer");
        self.set_to = Some(moment);
    }
}

/// Wakes when the wall clock is set, which is how a virtual machine that was frozen learns of it.
pub struct ClockSet {
    timer: AsyncFd<OwnedFd>,
}

impl ClockSet {
    #[expect(
        deprecated,
        reason = "unsound for types that may close their descriptor; an `OwnedFd` cannot"
    )]
    pub fn new() -> std::io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = AsyncFd::new(timerfd_create(TimerfdClockId::Realtime, flags)?)?;
        let watch = Self { timer };
        watch.set()?;
        Ok(watch)
    }

    /// Waits until the wall clock is set. Cancel safe.
    pub async fn changed(&mut self) {
        let ready = self.timer.readable().await;
        ready.expect("the runtime outlives the watch").clear_ready();
        // Without it a leap is noticed with the next wake-up.
        let _ = self.set();
    }

    /// To a moment that never comes, called off when the clock is set.
    fn set(&self) -> std::io::Result<()> {
        let it_value = Timespec { tv_sec: i64::MAX / 1_000_000_000, tv_nsec: 0 };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&self.timer, flags, &Itimerspec { it_interval, it_value })?;
        Ok(())
    }
}
