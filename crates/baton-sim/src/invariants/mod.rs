//! The checkers: one promise, one file, one test that makes it fire.
//!
//! ```text
//!   world ── Fact ──► every Invariant ── Err(message) ──► Violation: the run ends
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

use baton_core::time::Moment;
use serde::Serialize;

use crate::fact::Fact;
use crate::plan::Plan;

/// A promise of `docs/guarantees.md`, and the file that checks it.
pub struct Promise {
    pub checker: &'static str,
    pub name: &'static str,
}

/// A promise that is checked against every fact of a run.
pub trait Invariant {
    /// The promise that it checks.
    fn promise(&self) -> Promise;

    /// Looks at a fact; an error is a broken promise.
    fn see(&mut self, fact: &Fact<'_>) -> Result<(), String>;
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

/// The checkers that apply to a plan. Those of S1 do not where S1 is not promised.
pub fn for_plan(plan: &Plan) -> Vec<Box<dyn Invariant>> {
    let mut all: Vec<Box<dyn Invariant>> = vec![
        Box::new(epochs_above_seen::EpochsAboveSeen),
        Box::new(no_resumption::NoResumption::default()),
        Box::new(work_in_window::WorkInWindow),
        Box::new(stop_in_time::StopInTime::default()),
        Box::new(proved_stop::ProvedStop::default()),
        Box::new(grant_taken_up::GrantTakenUp),
        Box::new(higher_epoch_wins::HigherEpochWins),
        Box::new(failed_plugins_hand_over::FailedPluginsHandOver),
        Box::new(eligible_only::EligibleOnly),
        Box::new(mandate_kept::MandateKept::new(&plan.settings)),
        Box::new(known_never_back::KnownNeverBack::default()),
        Box::new(fence_grace::FenceGrace::new(&plan.settings)),
        Box::new(no_stampede::NoStampede::new(plan)),
        Box::new(no_usurper::NoUsurper::new(&plan.settings)),
        Box::new(polite::Polite::new(&plan.settings)),
        Box::new(lease_rules::LeaseRules::new(plan.expiry)),
        Box::new(window_backed::WindowBacked::new(plan.settings.lease_terms())),
    ];
    if plan.promises_one() {
        all.insert(0, Box::new(one_trusted::OneTrusted));
    }
    if plan.promises_unique_epochs() {
        all.insert(0, Box::new(epochs_unique::EpochsUnique::new(plan.promises_one())));
        all.push(Box::new(view_fenced::ViewFenced::default()));
    }
    all
}
