//! The checkers of schedules: one invariant, one file, one test that makes it fire. All of them
//! make up promise S6.
//!
//! ```text
//!   world ── Fact ──► every Checker ── Err(message) ──► Violation: the run ends
//! ```

mod calm;
mod claimed_first;
mod cut_off;
mod edits_kept;
mod fenced;
mod local_time_once;
mod misfire;
mod none_lost;
mod once;
mod one_page;
mod overlap;
mod polite;
mod recorded;
#[cfg(test)]
mod testing;

use super::fact::Fact;

/// Looks at a fact of a run; an error is a broken promise.
type Check = Box<dyn FnMut(&Fact<'_>) -> Result<(), String>>;

/// The check of an invariant, on which a promise of `docs/guarantees.md` rests.
pub struct Checker {
    pub promise: &'static str,
    /// The name of its file.
    pub invariant: &'static str,
    pub check: Check,
}

/// All of them.
pub fn all() -> Vec<Checker> {
    let checker = |invariant, check| Checker { promise: "S6", invariant, check };
    vec![
        checker("fenced", Box::new(fenced::check())),
        checker("edits_kept", Box::new(edits_kept::check)),
        checker("once", Box::new(once::check())),
        checker("claimed_first", Box::new(claimed_first::check())),
        checker("overlap", Box::new(overlap::check())),
        checker("cut_off", Box::new(cut_off::check())),
        checker("local_time_once", Box::new(local_time_once::check())),
        checker("misfire", Box::new(misfire::check)),
        checker("none_lost", Box::new(none_lost::check)),
        checker("recorded", Box::new(recorded::check())),
        checker("one_page", Box::new(one_page::check())),
        checker("polite", Box::new(polite::check)),
        checker("calm", Box::new(calm::check())),
    ]
}
