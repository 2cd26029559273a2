//! The machine: which boot of it this is, and its clock.

use std::fs;
use std::sync::Arc;

use baton_store::clock::Clock;
use baton_store::memory::StepTime;

use super::error::SqliteOpenError;

/// Names the running kernel; another one after each reboot, the same in every container.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The time namespace of this process, and the name of the one that the machine starts with.
const TIME_NAMESPACE: &str = "/proc/self/ns/time";
const MACHINES_OWN: &str = "time:[4026531834]";

/// Readings of the clock mean something within one boot of the machine only.
#[derive(Clone)]
pub(super) struct Machine {
    /// Which boot of the machine.
    pub(super) boot: Arc<str>,
    clock: Arc<dyn Clock>,
}

impl Machine {
    /// This machine, now, by this clock.
    pub(super) fn here(clock: Arc<dyn Clock>) -> Result<Self, SqliteOpenError> {
        // A kernel without time namespaces has no such connection, and one time for all.
        let other = fs::read_link(TIME_NAMESPACE).is_ok_and(|it| it.as_os_str() != MACHINES_OWN);
        if other {
            return Err(SqliteOpenError::OwnTime);
        }
        let text =
            fs::read_to_string(BOOT_ID).map_err(|error| SqliteOpenError::NoBootId { error })?;
        Ok(Self { boot: Arc::from(text.trim()), clock })
    }

    /// The time, for a step that begins.
    pub(super) fn step_time(&self) -> StepTime {
        StepTime { now: self.clock.now(), wall_ms: self.clock.wall_ms() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_store::clock::SystemClock;

    #[test]
    fn two_looks_see_the_same_boot_and_a_clock_that_goes_on() {
        let [first, second] = [(), ()]
            .map(|()| Machine::here(Arc::new(SystemClock)).expect("this machine has a boot id"));
        assert_eq!(first.boot, second.boot);
        assert!(first.boot.len() >= 32, "{}", first.boot);
        let earlier = first.step_time().now;
        assert!(second.step_time().now >= earlier);
    }
}
