//! Without timers of the kernel: the runtime's timer may stand still during a suspend, so that the
//! clock is read again and again while it runs.

use std::time::Duration;

use baton_core::time::Moment;
use baton_store::clock::{Clock, SystemClock};

const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Rings at a moment of the system's clock, or up to [`LONGEST_SLEEP`] after a suspend in which it
/// passed.
pub struct Alarm;

impl Alarm {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    /// Waits until the moment has come; for ever if there is none. Cancel safe.
    pub async fn ring_at(&mut self, moment: Option<Moment>) {
        let Some(moment) = moment else { return std::future::pending().await };
        loop {
            let left = moment.since(SystemClock.now());
            if left.is_zero() {
                return;
            }
            SystemClock.sleep(left.min(LONGEST_SLEEP)).await;
        }
    }
}

/// Cannot tell when the wall clock is set: a leap of it is noticed with the next wake-up.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub struct ClockSet;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl ClockSet {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub async fn changed(&mut self) {
        std::future::pending::<()>().await;
    }
}
