//! One alarm for the earliest of all timers, and one for a wall clock that is set.
//!
//! ```text
//!   Linux            timerfd.rs   rings at the moment itself, also if it passed during a suspend
//!   other systems    polled.rs    reads the clock every second, so at most that much late
//! ```
//!
//! An alarm that rings late ends no term late: the reader of a window compares the clock itself.

#[cfg(any(test, not(any(target_os = "linux", target_os = "android"))))]
mod polled;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod timerfd;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub use polled::{Alarm, ClockSet};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub use timerfd::{Alarm, ClockSet};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use baton_core::time::Moment;
    use baton_store::clock::{Clock, SystemClock};

    macro_rules! alarm_tests {
        ($system:ident) => {
            mod $system {
                use super::super::$system::Alarm;
                use super::*;

                #[tokio::test]
                async fn rings_not_before_its_moment_and_at_once_for_one_that_passed() {
                    let mut alarm = Alarm::new().expect("there are timers");
                    for ahead in [Duration::from_millis(20), Duration::ZERO] {
                        let moment = SystemClock.now() + ahead;
                        alarm.ring_at(Some(moment)).await;
                        assert!(SystemClock.now() >= moment);
                    }
                    alarm.ring_at(Some(Moment::from_micros(0))).await;
                }

                #[tokio::test]
                async fn a_wait_that_was_given_up_can_be_moved_forward() {
                    let mut alarm = Alarm::new().expect("there are timers");
                    let far = SystemClock.now() + Duration::from_secs(3_600);
                    tokio::select! {
                        biased;
                        () = alarm.ring_at(Some(far)) => unreachable!("an hour has not passed"),
                        () = std::future::ready(()) => {}
                    }
                    let near = SystemClock.now() + Duration::from_millis(5);
                    alarm.ring_at(Some(near)).await;
                    assert!(SystemClock.now() >= near);
                }
            }
        };
    }

    alarm_tests!(polled);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    alarm_tests!(timerfd);
}
