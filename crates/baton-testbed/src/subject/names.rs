//! Namespaces that no test has used, even on a server that was there before the test.

use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::ids::Namespace;
use baton_store::clock::{Clock, SystemClock};

/// How many this process has handed out.
static HANDED_OUT: AtomicU64 = AtomicU64::new(0);

/// Hands out names. What sets them apart is the wall clock, the process and a counter.
pub struct Names {
    run: u64,
}

impl Names {
    pub fn new() -> Self {
        let run = SystemClock.wall_ms() << 22 | u64::from(std::process::id());
        Self { run }
    }

    pub fn next(&self, label: &str) -> Namespace {
        let number = HANDED_OUT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{label}-{:x}-{number}", self.run);
        Namespace::new(&name).expect("labels are short and plain")
    }
}
