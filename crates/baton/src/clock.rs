//! The clock that deadlines are read on.
//!
//! A [`Moment`] is a reading of the machine's boot-time clock (`CLOCK_BOOTTIME` on Linux), which no
//! one can set and which goes on while the machine is suspended. That is why a deadline is not a
//! [`std::time::Instant`]: on Linux an `Instant` stands still during a suspend, and a leader that
//! wakes up after its lease ran out would believe that it still leads.
//!
//! Moments of one machine can be compared with each other, and with [`now`]. Those of two machines
//! cannot.
//!
//! ```
//! use std::time::Duration;
//! use baton::clock;
//!
//! let deadline = clock::now() + Duration::from_secs(5);
//! assert!(deadline.since(clock::now()) <= Duration::from_secs(5));
//! ```

use baton_store::clock::{Clock, SystemClock};

pub use baton_core::lease::Window;
pub use baton_core::time::Moment;

/// The present moment.
pub fn now() -> Moment {
    SystemClock.now()
}
