//! What the checkers are shown.

use std::collections::BTreeSet;

use baton_core::ids::Epoch;
use baton_core::schedule::entry::Claimant;
use baton_core::schedule::{ActiveRun, AttemptEnd, AttemptId, Definition, Page};

use super::commit::Commit;

/// How an attempt ended in truth, whether it was reported or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrueEnd {
    /// By itself, or because it was told to stop.
    Ended(AttemptEnd),
    /// Its process died, its guard killed it, or its term came to an end.
    CutOff,
}

/// What is left when the calm is over.
pub struct CalmState<'a> {
    /// The wall clock of the leader.
    pub wall_ms: u64,
    /// Its scheduler.
    pub claimant: Claimant,
    /// The pages of the store.
    pub pages: &'a [Page],
    /// What the leader declares.
    pub declared: &'a [Definition],
    /// The attempts that run.
    pub running: BTreeSet<AttemptId>,
    /// Attempts whose end was reported a moment ago.
    pub just_ended: BTreeSet<AttemptId>,
}

/// Something that happened.
pub enum Fact<'a> {
    /// The store granted a term: no write of an earlier one may follow.
    Granted(Epoch),
    /// A page was changed.
    Committed(&'a Commit<'a>),
    /// An attempt began to run.
    Started {
        /// Which.
        attempt: &'a AttemptId,
        /// Its run as the scheduler gave it.
        run: &'a ActiveRun,
    },
    /// An attempt runs no more.
    Ended {
        /// Which.
        attempt: &'a AttemptId,
        /// How.
        end: &'a TrueEnd,
    },
    /// A scheduler that had nothing to do wants to be woken at once.
    WokenInVain(Epoch),
    /// A scheduler asks for a page while a request for that page is under way.
    AskedTwice {
        /// Of which term.
        epoch: Epoch,
        /// Which page.
        page: usize,
    },
    /// The calm is over.
    Calm(&'a CalmState<'a>),
}
