//! How a writer waits while another process has the file.

use std::time::Duration;

use baton_core::rng::Rng;

/// SQLite's own waits grow to 100 ms; a handover should take less than ten. So waits stay short,
/// and differ, so that those who wait do not all come back at once.
const SHORTEST: Duration = Duration::from_micros(200);
const LONGEST: Duration = Duration::from_millis(2);

/// A busy handler that gives up once it has waited for this long.
pub(super) fn within(limit: Duration) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut draw = Rng::new(u64::from(std::process::id()));
    let mut waited = Duration::ZERO;
    move |count| {
        if count == 0 {
            waited = Duration::ZERO;
        }
        if waited >= limit {
            return false;
        }
        let span = draw.span(SHORTEST, LONGEST);
        wait(span);
        waited += span;
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "SQLite's busy handler waits by blocking its thread")]
pub(super) fn wait(span: Duration) {
    std::thread::sleep(span);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_up_in_time_and_begins_anew() {
        let mut handler = within(Duration::from_millis(6));
        for _ in 0..2 {
            let tries = (0..100).take_while(|count| handler(*count)).count();
            assert!((3..=30).contains(&tries), "{tries}");
        }
    }
}
