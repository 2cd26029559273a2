//! How far a bench is, on stderr, for the person who waits.

use std::sync::Mutex;
use std::time::Duration;

use baton::clock::Moment;
use baton_store::clock::{Clock, SystemClock};

/// Between two lines, unless something begins or ends.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Counts what is done of what is to do. Shared by all who do it.
pub struct Progress {
    what: String,
    total: u32,
    done: Mutex<(u32, Moment)>,
}

impl Progress {
    /// A counter at 0.
    pub fn new(what: &str, total: u32) -> Self {
        eprintln!("{what}: {total} to do");
        Self { what: what.to_owned(), total, done: Mutex::new((0, SystemClock.now())) }
    }

    /// Counts one more.
    pub fn step(&self) {
        let mut done = self.done.lock().expect("no holder panics");
        let (count, said_at) = &mut *done;
        *count += 1;
        let now = SystemClock.now();
        if *count == self.total || now.since(*said_at) >= SAY_EVERY {
            *said_at = now;
            eprintln!("{}: {count} of {}", self.what, self.total);
        }
    }
}
