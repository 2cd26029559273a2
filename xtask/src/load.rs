//! Busy loops beside a step: what passes on an idle machine only, depends on speed.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does the work beside this many busy loops, and ends them with it.
///
/// They are threads of this process, so nothing is left of them if it is killed.
pub fn beside<T>(loops: u32, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Declared inside, so that a panic in the work ends them too, before they are joined.
        let _end = EndOnDrop(&over);
        for _ in 0..loops {
            scope.spawn(|| spin(&over));
        }
        work()
    })
}

/// Keeps one core busy until it is over.
fn spin(over: &AtomicBool) {
    let mut turns = 0_u64;
    while !over.load(Ordering::Relaxed) {
        turns = black_box(turns.wrapping_add(1));
    }
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::beside;

    fn threads() -> usize {
        fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
    }

    #[test]
    fn the_loops_run_beside_the_work_and_end_with_it() {
        // That it returns shows that they ended: a scope waits for its threads.
        let during = beside(64, threads);
        assert!(during >= 64, "{during} threads");
        assert_eq!(beside(0, || 7), 7);
    }

    #[test]
    fn work_that_panics_ends_them_too() {
        let failed = catch_unwind(AssertUnwindSafe(|| beside(2, || unreachable!("on purpose"))));
        assert!(failed.is_err());
    }
}
