//! The checkers of partitions: one invariant, one file, one test that makes it fire.
//!
//! ```text
//!   world ── Fact ──► every Checker ── Err(message) ──► Violation: the run ends
//! ```

mod calm;
mod fenced;
mod one_owner;
mod polite;
mod steady;
mod tokens_rise;

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
    let checker = |promise, invariant, check| Checker { promise, invariant, check };
    vec![
        checker("S5", "one_owner", Box::new(one_owner::check())),
        checker("S5", "tokens_rise", Box::new(tokens_rise::check())),
        checker("S5", "fenced", Box::new(fenced::check())),
        checker("L2", "calm", Box::new(calm::check)),
        checker("L2", "steady", Box::new(steady::check())),
        checker("L2", "polite", Box::new(polite::check)),
    ]
}
