//! The checkers: one promise, one file, one test that makes it fire.
//!
//! ```text
//!   world ── Fact ──► every Checker ── Err(message) ──► Violation: the run ends
//! ```

mod eligible_only;
mod epochs_above_seen;
mod epochs_unique;
mod failed_plugins_hand_over;
mod fence_grace;
mod grant_taken_up;
mod higher_epoch_wins;
mod known_never_back;
mod lease_rules;
mod mandate_kept;
mod no_resumption;
mod no_stampede;
mod no_usurper;
mod one_trusted;
mod polite;
mod proved_stop;
mod stop_in_time;
mod view_fenced;
mod window_backed;
mod work_in_window;

#[cfg(test)]
pub mod testing;

use std::fmt;

use baton_core::time::Moment;
use serde::Serialize;

use crate::fact::Fact;
use crate::plan::Plan;

/// Looks at a fact of a run; an error is a broken promise.
pub type Check = Box<dyn FnMut(&Fact<'_>) -> Result<(), String>>;

/// The check of an invariant, on which a promise of `docs/guarantees.md` rests.
pub struct Checker {
    pub promise: &'static str,
    /// The name of its file.
    pub invariant: &'static str,
    pub check: Check,
}

impl Checker {
    /// Checks this invariant of this promise.
    pub fn new(
        promise: &'static str,
        invariant: &'static str,
        check: impl FnMut(&Fact<'_>) -> Result<(), String> + 'static,
    ) -> Self {
        Self { promise, invariant, check: Box::new(check) }
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    pub invariant: String,
    /// Which promise is broken.
    pub promise: String,
    /// When, in true time.
    pub at: Moment,
    /// What was seen.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, promise, at, message } = self;
        write!(f, "{promise} ({invariant}) at {at:?}: {message}")
    }
}

/// The checkers that apply to a plan. Those of S1 do not where S1 is not promised.
pub fn for_plan(plan: &Plan) -> Vec<Checker> {
    let settings = &plan.settings;
    let mut all = vec![
        Checker::new("S2", "epochs_above_seen", epochs_above_seen::check),
        Checker::new("S4", "no_resumption", no_resumption::check()),
        Checker::new("S4", "work_in_window", work_in_window::check),
        Checker::new("S4", "stop_in_time", stop_in_time::check()),
        Checker::new("S4", "proved_stop", proved_stop::check()),
        Checker::new("S7", "grant_taken_up", grant_taken_up::check),
        Checker::new("S3", "higher_epoch_wins", higher_epoch_wins::check),
        Checker::new("3.8", "failed_plugins_hand_over", failed_plugins_hand_over::check),
        Checker::new("2.5", "eligible_only", eligible_only::check),
        Checker::new("3.3", "mandate_kept", mandate_kept::check(settings.min_epoch_duration)),
        Checker::new("S7", "known_never_back", known_never_back::check()),
        Checker::new("1.6", "fence_grace", fence_grace::check(settings.epoch_grace_period)),
        Checker::new("3.5", "no_stampede", no_stampede::check(plan)),
        Checker::new("2.1", "no_usurper", no_usurper::check(settings.heartbeat_interval)),
        Checker::new("1.1", "polite", polite::check(settings.heartbeat_interval)),
        Checker::new("S2", "lease_rules", lease_rules::check(plan.expiry)),
        Checker::new("S7", "window_backed", window_backed::check(settings.lease_terms())),
    ];
    if plan.promises_one() {
        all.insert(0, Checker::new("S1", "one_trusted", one_trusted::check));
    }
    if plan.promises_unique_epochs() {
        let unique = epochs_unique::check(plan.promises_one());
        all.insert(0, Checker::new("S2", "epochs_unique", unique));
        all.push(Checker::new("S3", "view_fenced", view_fenced::check()));
    }
    all
}
